import Files

/// What stands behind the question mark: names with values, in order.
struct Query: Sendable, Equatable {
    private(set) var pairs: [(name: String, value: [UInt8])] = []

    static func == (left: Query, right: Query) -> Bool {
        left.pairs.elementsEqual(right.pairs) { $0.name == $1.name && $0.value == $1.value }
    }

    init() {}

    init(_ text: some StringProtocol) throws(Problem) {
        for piece in text.utf8.split(separator: UInt8(ascii: "&")) {
            let parts = piece.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            guard
                let name = Percent.decoded(parts[0], plusIsSpace: true).flatMap({
                    String(validating: $0, as: UTF8.self)
                }),
                let value = Percent.decoded(parts.count > 1 ? parts[1] : parts[0].suffix(0), plusIsSpace: true)
            else {
                throw Problem(
                    .badRequest, "query.malformed", "the part behind the question mark has a malformed escape",
                    remedy: "Write '%' as '%25'.")
            }
            pairs.append((name, value))
        }
    }

    /// All values of that name which are not empty: a form sends its empty fields, too.
    func values(_ name: String) -> [[UInt8]] { pairs.filter { $0.name == name && !$0.value.isEmpty }.map(\.value) }

    func bytes(_ name: String) throws(Problem) -> [UInt8]? {
        let found = values(name)
        guard found.count <= 1 else {
            throw .badQuery(name, "'\(name)' is given \(found.count) times", remedy: "Give it once.")
        }
        return found.first
    }

    func text(_ name: String) throws(Problem) -> String? {
        guard let bytes = try bytes(name) else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self) else {
            throw .badQuery(name, "'\(name)' is not UTF-8", remedy: "Give text.")
        }
        return text
    }

    func integer(_ name: String, in range: ClosedRange<Int>) throws(Problem) -> Int? {
        guard let text = try text(name) else { return nil }
        guard let number = Int(text), range.contains(number) else {
            throw .badQuery(
                name, "'\(name)' must be a whole number from \(range.lowerBound) to \(range.upperBound)",
                remedy: "Give such a number, or leave it out.")
        }
        return number
    }

    func choice(_ name: String, of words: [String]) throws(Problem) -> String? {
        guard let text = try text(name) else { return nil }
        guard words.contains(text) else {
            throw .badQuery(
                name, "'\(name)' must be one of \(words.joined(separator: ", "))",
                remedy: "Give one of these, or leave it out.")
        }
        return text
    }

    /// Fails where a name is none of these: a misspelt filter would show more than was asked for.
    func check(names: Set<String>) throws(Problem) {
        for (name, _) in pairs where !names.contains(name) {
            throw Problem(
                .badRequest, "query.unknown", "there is no '\(EscapedText.of(name))'", subject: "query",
                remedy: names.isEmpty
                    ? "Leave it out." : "Use one of \(names.sorted().joined(separator: ", ")), or leave it out.")
        }
    }
}
