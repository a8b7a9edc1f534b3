extension Duration {
    /// Units that pipeline files know, and their seconds.
    package static let unitNames: [(name: String, seconds: Double)] = [
        ("ms", 0.001), ("s", 1), ("m", 60), ("h", 3600), ("d", 86400), ("y", 365 * 86400),
    ]

    /// A duration from text such as `250ms`, `1s`, `1.5s`, `15m`, `24h`, `90d`, `1y` (365 days); the unit is needed,
    /// but for 0. Nil for others.
    package init?(configured text: String) {
        guard let (number, unit) = NumberWithUnit.split(text) else { return nil }
        if unit.isEmpty {
            guard number == 0 else { return nil }
            self = .zero
            return
        }
        guard let seconds = Self.unitNames.first(where: { $0.name == unit })?.seconds else { return nil }
        // A hundred years: Int64 nanoseconds end at 292, and sums with deadlines must stay below that.
        guard number * seconds < 3.2e9 else { return nil }
        self = .nanoseconds(Int64((number * seconds * 1e9).rounded()))
    }

    /// Whole nanoseconds; beyond 292 years as many as an `Int64` can count.
    package var nanoseconds: Int64 {
        let (seconds, attoseconds) = components
        return seconds.multipliedSaturated(by: 1_000_000_000).addingSaturated(attoseconds / 1_000_000_000)
    }

    /// Seconds, with their fraction.
    package var seconds: Double { Double(nanoseconds) / 1e9 }

    /// For people: `12 ms`, `1.2 s`, `3 min 20 s`, `2 h 5 min`, `4 d 3 h`.
    package var text: String {
        let total = seconds
        if total < 0.0995 { return "\(Int((total * 1000).rounded())) ms" }
        if total < 59.95 {
            let tenths = Int((total * 10).rounded())
            return "\(tenths / 10).\(tenths % 10) s"
        }
        let whole = Int(total.rounded())
        func pair(_ large: Int, _ small: Int, _ largeUnit: String, _ smallUnit: String) -> String {
            small == 0 ? "\(large) \(largeUnit)" : "\(large) \(largeUnit) \(small) \(smallUnit)"
        }
        if whole < 3600 { return pair(whole / 60, whole % 60, "min", "s") }
        if whole < 86400 { return pair(whole / 3600, whole % 3600 / 60, "h", "min") }
        return pair(whole / 86400, whole % 86400 / 3600, "d", "h")
    }
}
