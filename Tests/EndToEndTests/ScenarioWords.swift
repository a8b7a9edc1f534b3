/// Takes one line of a scenario apart: words, and values in quotation marks.
///
/// A value is `"text"`, repeated by `"x" * 251`, joined by `"x" * 251 + ".txt"`. Escapes are those that names are shown
/// with: `\n \t \\ \" \xED`.
struct ScenarioWords {
    private var rest: Substring
    private let line: Int

    init(_ text: some StringProtocol, line: Int) {
        rest = Substring(text)
        self.line = line
        skipSpace()
    }

    /// Whether nothing is left.
    var isAtEnd: Bool { rest.isEmpty }

    /// Whether a value comes next.
    var isAtValue: Bool { rest.first == "\"" }

    /// A problem in this line.
    func problem(_ message: String) -> ScenarioProblem { ScenarioProblem(line: line, message: message) }

    /// The next word, up to a space.
    mutating func word() throws(ScenarioProblem) -> String {
        let word = rest.prefix { $0 != " " }
        guard !word.isEmpty else { throw problem("the line ends too early") }
        rest = rest.dropFirst(word.count)
        skipSpace()
        return String(word)
    }

    /// Takes the word if it comes next.
    mutating func take(_ word: String) -> Bool {
        guard rest == word || rest.hasPrefix(word + " ") else { return false }
        rest = rest.dropFirst(word.count)
        skipSpace()
        return true
    }

    /// Takes the word, which must come next.
    mutating func expect(_ word: String) throws(ScenarioProblem) {
        guard take(word) else { throw problem("expected '\(word)' before '\(rest)'") }
    }

    /// A whole number.
    mutating func number() throws(ScenarioProblem) -> Int {
        let word = try word()
        guard let number = Int(word), number >= 0 else { throw problem("'\(word)' is no number") }
        return number
    }

    /// A duration.
    mutating func duration() throws(ScenarioProblem) -> Duration {
        let word = try word()
        guard let duration = Duration(configured: word) else { throw problem("'\(word)' is no duration") }
        return duration
    }

    /// A value, as bytes.
    mutating func value() throws(ScenarioProblem) -> [UInt8] {
        var bytes = try term()
        while take("+") { bytes += try term() }
        return bytes
    }

    /// A value that must be text.
    mutating func text() throws(ScenarioProblem) -> String {
        guard let text = String(validating: try value(), as: UTF8.self) else { throw problem("this must be UTF-8") }
        return text
    }

    /// Nothing may be left.
    func end() throws(ScenarioProblem) {
        guard rest.isEmpty else { throw problem("'\(rest)' is too much") }
    }

    private mutating func term() throws(ScenarioProblem) -> [UInt8] {
        guard isAtValue else { throw problem("expected a value in quotation marks before '\(rest)'") }
        rest = rest.dropFirst()
        var bytes: [UInt8] = []
        while let character = rest.popFirst(), character != "\"" {
            bytes += character == "\\" ? try escape() : Array(String(character).utf8)
            if rest.isEmpty { throw problem("a quotation mark is missing") }
        }
        skipSpace()
        guard take("*") else { return bytes }
        return Array(repeatElement(bytes, count: try number()).joined())
    }

    private mutating func escape() throws(ScenarioProblem) -> [UInt8] {
        switch rest.popFirst() {
        case "n": return [0x0A]
        case "t": return [0x09]
        case "\\": return [0x5C]
        case "\"": return [0x22]
        case "x":
            let digits = rest.prefix(2)
            guard digits.count == 2, let byte = UInt8(digits, radix: 16) else {
                throw problem("'\\x' needs two hexadecimal digits")
            }
            rest = rest.dropFirst(2)
            return [byte]
        default: throw problem("an unknown escape; there are \\n \\t \\\\ \\\" and \\xNN")
        }
    }

    private mutating func skipSpace() { rest = rest.drop { $0 == " " } }
}

extension ScenarioWords {
    /// The bytes of a path that `EscapedText` made.
    static func unescape(_ text: String) throws(ScenarioProblem) -> [UInt8] {
        let quoted = text.split(separator: "\"", omittingEmptySubsequences: false).joined(separator: "\\\"")
        var words = ScenarioWords("\"\(quoted)\"", line: 0)
        return try words.value()
    }
}
