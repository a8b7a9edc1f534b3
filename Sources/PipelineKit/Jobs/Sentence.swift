public import Files

/// A sentence for people that still knows which parts of it were filled in: of "'a.bin' took longer than 5 s." the name
/// and the time. It is written as a literal with interpolations, and prints what a `String` written so would.
public struct Sentence: Sendable, Hashable {
    /// What it says.
    public let text: String
    /// Where in the text, counted in UTF-8, something was filled in: in order, and none within another.
    let places: [Range<Int>]

    /// A sentence in which nothing was filled in, as far as is known.
    public init(_ text: String) { self.init(text, []) }

    init(_ text: String, _ places: [Range<Int>]) {
        self.text = text
        self.places = places
    }

    /// Whether it says nothing.
    public var isEmpty: Bool { text.isEmpty }

    /// One after the other.
    package static func + (left: Sentence, right: Sentence) -> Sentence {
        var both = StringInterpolation(left)
        both.appendInterpolation(right)
        return Sentence(stringInterpolation: both)
    }
}

extension Sentence: ExpressibleByStringInterpolation {
    /// What was filled in so far, and what stands around it.
    public struct StringInterpolation: StringInterpolationProtocol {
        private(set) var text = ""
        private(set) var places: [Range<Int>] = []

        /// Nothing so far.
        public init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

        init(_ sentence: Sentence) { (text, places) = (sentence.text, sentence.places) }

        /// Adds what is the same in all sentences of this kind.
        public mutating func appendLiteral(_ literal: String) { text += literal }

        /// Adds what is filled in.
        public mutating func appendInterpolation<Value>(_ value: Value) {
            let start = text.utf8.count
            text += "\(value)"
            places.append(start..<text.utf8.count)
        }

        /// Adds another sentence: what was filled into that stays told apart.
        public mutating func appendInterpolation(_ sentence: Sentence) {
            let start = text.utf8.count
            text += sentence.text
            places += sentence.places.map { start + $0.lowerBound..<start + $0.upperBound }
        }

        /// Adds what a system call's failure says.
        public mutating func appendInterpolation(_ error: IOError) {
            appendLiteral("cannot ")
            appendInterpolation(error.action)
            appendLiteral(" '")
            appendInterpolation(error.path.text)
            appendLiteral("': ")
            appendInterpolation(error.errno)
        }
    }

    /// A sentence with nothing filled in.
    public init(stringLiteral text: String) { self.init(text) }

    /// A sentence of its parts.
    public init(stringInterpolation parts: StringInterpolation) { self.init(parts.text, parts.places) }
}

extension Sentence: CustomStringConvertible {
    /// What it says.
    public var description: String { text }
}
