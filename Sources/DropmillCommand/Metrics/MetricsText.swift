import Files

/// Metrics as Prometheus reads them.
enum MetricsText {
    enum Format {
        /// Prometheus' own text format, version 0.0.4.
        case prometheus
        /// OpenMetrics 1.0.
        case openMetrics
    }

    /// `labels`: what each sample gets besides.
    static func text(
        of families: [MetricFamily], as format: Format = .prometheus, labels: [String: String] = [:]
    ) -> String {
        let common = labels.sorted { $0.key < $1.key }.map { MetricFamily.Label(name: $0.key, value: $0.value) }
        var text = ""
        for family in families {
            // OpenMetrics names a counter without its suffix, and has no two families of one name: there the second is
            // one of which it is not said that it counts.
            let hasTwin = families.contains { $0.name == family.name && $0.kind != family.kind }
            let isWhole = family.kind == .counter && (format == .prometheus || hasTwin)
            let kind = format == .openMetrics && isWhole ? "unknown" : family.kind.rawValue
            let name = isWhole ? family.name + "_total" : family.name
            text += "# HELP \(name) \(escaped(family.help))\n# TYPE \(name) \(kind)\n"
            for sample in family.samples {
                text += family.name + sample.suffix
                let labels = common + sample.labels
                if !labels.isEmpty {
                    let labels = labels.map { "\($0.name)=\"\(escaped($0.value, quoted: true))\"" }
                    text += "{\(labels.joined(separator: ","))}"
                }
                text += " \(number(sample.value))\n"
            }
        }
        return format == .openMetrics ? text + "# EOF\n" : text
    }

    /// Those of samples; others may have any besides.
    private static let own: Set = [
        "pipeline", "stage", "code", "outcome", "state", "reason", "folder", "version", "le",
    ]

    /// Whether samples may get a label of that name.
    static func isLabel(_ name: String) -> Bool {
        name.wholeMatch(of: /[a-zA-Z_][a-zA-Z0-9_]*/) != nil && !name.hasPrefix("__") && !own.contains(name)
    }

    /// Labels that all samples get are in each of them.
    private static let mostLabels = (count: 4, bytes: 64)

    /// Why these cannot be the labels of all samples; nil where they can.
    static func problem(with labels: [String: String]) -> String? {
        guard labels.count <= mostLabels.count else { return "there can be \(mostLabels.count) labels at most" }
        for (name, value) in labels {
            guard isLabel(name) else { return "'\(EscapedText.of(name))' is no name of a label, or one of ours" }
            guard name.utf8.count <= mostLabels.bytes, value.utf8.count <= mostLabels.bytes else {
                return "a label's name and its value can have \(mostLabels.bytes) bytes at most"
            }
        }
        return nil
    }

    private static func escaped(_ text: String, quoted: Bool = false) -> String {
        let text = text.replacing("\\", with: "\\\\").replacing("\n", with: "\\n")
        return quoted ? text.replacing("\"", with: "\\\"") : text
    }

    /// Whole numbers without a point.
    static func number(_ value: Double) -> String {
        if value.isInfinite { return value < 0 ? "-Inf" : "+Inf" }
        if value.isNaN { return "NaN" }
        guard let whole = Int64(exactly: value), abs(whole) < 1 << 53 else { return "\(value)" }
        return "\(whole)"
    }
}
