import Files

/// A manual page in the macros of man(7), as groff and mandoc format it.
struct ManualPage {
    /// Such as `dropmill`, and the manual's section.
    let name: String
    let section: Int
    private var lines: [String] = []

    /// `title`: one line that says what it is about; `date`: of the year-month-day kind; `version`: the program's.
    init(_ name: String, section: Int, _ title: String, date: String, version: String) {
        (self.name, self.section) = (name, section)
        lines.append(#".TH \#(name.uppercased()) \#(section) "\#(date)" "\#(version)" "Dropmill""#)
        heading("NAME")
        lines.append("\(Self.escaped(name)) \\- \(Self.inline(title))")
    }

    /// Its file's name: `dropmill.1`.
    var file: String { "\(name).\(section)" }

    var text: String { lines.joined(separator: "\n") + "\n" }

    mutating func heading(_ text: String) { lines.append(".SH \"\(Self.escaped(text))\"") }

    mutating func subheading(_ text: String) { lines.append(".SS \"\(Self.escaped(text))\"") }

    /// Text for people: empty lines part paragraphs, and lines that are indented are shown as they are.
    mutating func prose(_ text: String, isFirst: Bool = false) {
        var example: [Substring] = []
        var paragraph: [Substring] = []
        var needsBreak = !isFirst
        func isIndented(_ line: Substring) -> Bool { line.hasPrefix("  ") }
        func flush() {
            if !paragraph.isEmpty {
                if needsBreak { lines.append(".PP") }
                lines += paragraph.flatMap { Self.wrapped(String($0)) }
            } else if !example.isEmpty {
                self.example(example.map { String($0.dropFirst(2)) })
            }
            if !paragraph.isEmpty || !example.isEmpty { needsBreak = true }
            (paragraph, example) = ([], [])
        }
        for line in text.split(separator: "\n", omittingEmptySubsequences: false) {
            if line.isEmpty || isIndented(line) != !example.isEmpty { flush() }
            guard !line.isEmpty else { continue }
            if isIndented(line) { example.append(line) } else { paragraph.append(line) }
        }
        flush()
    }

    /// Lines that are shown as they are.
    mutating func example(_ shown: [String]) {
        lines += [".PP", ".RS 4", ".EX"] + shown.map(Self.escaped) + [".EE", ".RE"]
    }

    /// A term with what it means; the term is roff already.
    mutating func item(_ term: String, _ meaning: String) {
        lines += [".TP", term]
        lines += meaning.split(separator: "\n").flatMap { Self.wrapped(String($0)) }
    }

    /// Text that has been put together of the functions below.
    mutating func raw(_ text: String) { lines.append(text) }

    static func bold(_ text: String) -> String { "\\fB\(escapedInside(text))\\fR" }

    static func italic(_ text: String) -> String { "\\fI\(escapedInside(text))\\fR" }

    /// What is between backticks becomes bold.
    static func inline(_ text: String) -> String {
        let parts = text.split(separator: "`", omittingEmptySubsequences: false)
        guard parts.count % 2 == 1 else { return escaped(text) }
        let line = parts.enumerated().map { $0.offset % 2 == 1 ? bold(String($0.element)) : escapedInside($0.element) }
            .joined()
        return guarded(line)
    }

    private static let width = 72

    /// The same in lines as short as people edit them.
    private static func wrapped(_ text: String) -> [String] {
        var lines: [String] = []
        var line = ""
        for word in inline(text).split(separator: " ") {
            if !line.isEmpty, line.utf8.count + word.utf8.count >= width {
                lines.append(guarded(line))
                line = ""
            }
            line += (line.isEmpty ? "" : " ") + word
        }
        return line.isEmpty ? lines : lines + [guarded(line)]
    }

    static func escaped(_ text: String) -> String { guarded(escapedInside(text)) }

    /// A line that begins with a dot or an apostrophe would be a request.
    private static func guarded(_ line: String) -> String {
        line.hasPrefix(".") || line.hasPrefix("'") ? "\\&" + line : line
    }

    private static func escapedInside(_ text: some StringProtocol) -> String {
        var escaped = ""
        for character in text {
            switch character {
            case "\\": escaped += "\\e"
            case "-": escaped += "\\-"
            case "\"": escaped += "\\(dq"
            default: escaped.append(character)
            }
        }
        return escaped
    }
}
