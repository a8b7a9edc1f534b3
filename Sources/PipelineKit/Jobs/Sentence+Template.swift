/// What a sentence has in common with others of its kind.
extension Sentence {
    /// What stands for something that was filled in.
    private static let gap = "{}"
    /// More than that many are not told apart on record.
    private static let mostArguments = 16

    /// What was filled in, in order.
    package var arguments: [String] { places.map { String(text[index($0.lowerBound)..<index($0.upperBound)]) } }

    /// What stands before, between and behind that.
    package var literals: [String] {
        let ends = [0] + places.map(\.upperBound)
        let starts = places.map(\.lowerBound) + [text.utf8.count]
        return zip(ends, starts).map { String(text[index($0)..<index($1)]) }
    }

    /// `'{}' took longer than {}.`; nil where nothing was filled in, or where it could not be told from the rest.
    package var template: String? {
        let literals = literals
        guard !places.isEmpty, places.count <= Self.mostArguments, !literals.contains(where: { $0.contains("{}") })
        else {
            return nil
        }
        return literals.joined(separator: Self.gap)
    }

    /// Whether the text and the template say what was filled in: that may hold the words behind it, too.
    package var isToldByTemplate: Bool { template.map { Sentence(text, template: $0) == self } ?? true }

    /// What was written down. `arguments`: what was filled in, where the template does not tell. What makes no sense is
    /// a sentence with nothing filled in.
    package init(_ text: String, template: String, arguments: [String]? = nil) {
        let literals = template.components(behind: Self.gap)
        guard let words = arguments ?? Self.words(in: text, between: literals), words.count == literals.count - 1 else {
            self.init(text)
            return
        }
        var parts = StringInterpolation(literalCapacity: text.utf8.count, interpolationCount: words.count)
        for (literal, word) in zip(literals, words) {
            parts.appendLiteral(literal)
            parts.appendInterpolation(word)
        }
        parts.appendLiteral(literals.last ?? "")
        let sentence = Sentence(stringInterpolation: parts)
        self = sentence.text == text ? sentence : Sentence(text)
    }

    /// Each up to where what is behind it comes first.
    private static func words(in text: String, between literals: [String]) -> [String]? {
        guard let first = literals.first, let last = literals.last, literals.count > 1, text.hasPrefix(first) else {
            return nil
        }
        var rest = text.dropFirst(first.count)
        var words: [String] = []
        for literal in literals.dropFirst().dropLast() {
            guard !literal.isEmpty, let found = rest.firstRange(of: literal) else { return nil }
            words.append(String(rest[..<found.lowerBound]))
            rest = rest[found.upperBound...]
        }
        guard rest.hasSuffix(last) else { return nil }
        return words + [String(rest.dropLast(last.count))]
    }

    private func index(_ offset: Int) -> String.Index { text.utf8.index(text.startIndex, offsetBy: offset) }
}

extension String {
    /// The parts between all places of another text.
    fileprivate func components(behind separator: String) -> [String] {
        var (parts, rest) = ([String](), self[...])
        while let found = rest.firstRange(of: separator) {
            parts.append(String(rest[..<found.lowerBound]))
            rest = rest[found.upperBound...]
        }
        return parts + [String(rest)]
    }
}
