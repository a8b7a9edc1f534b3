/// What is wrong with a configured value, and where.
public struct OptionProblem: Error, Hashable, Sendable {
    /// A sentence without a final stop, with the remedy.
    public let message: String
    package let position: SourcePosition
    /// Whether a secret is used where it would be visible. Only the registry knows which options take secrets.
    package let isOfSecret: Bool

    package init(_ message: String, at position: SourcePosition, isOfSecret: Bool = false) {
        self.message = message
        self.position = position
        self.isOfSecret = isOfSecret
    }

    /// The same with the key whose value it is.
    package func within(_ key: String) -> OptionProblem {
        OptionProblem("'\(key)': \(message)", at: position, isOfSecret: isOfSecret)
    }
}

extension OptionProblem: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}
