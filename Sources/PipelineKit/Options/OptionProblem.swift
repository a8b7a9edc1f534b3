/// What is wrong with a configured value, and where.
public struct OptionProblem: Error, Hashable, Sendable {
    /// A sentence without a final stop, with the remedy.
    public let message: String
    package let position: SourcePosition
    /// Whether a secret is used where it would be visible. Only the registry knows which options take secrets.
    package let isOfSecret: Bool
    /// Whether it tells where a secret is to come from, and nothing of the value.
    private let isOfReference: Bool

    package init(_ message: String, at position: SourcePosition, isOfSecret: Bool = false) {
        self.init(message, position, isOfSecret, isOfReference: false)
    }

    private init(_ message: String, _ position: SourcePosition, _ isOfSecret: Bool, isOfReference: Bool) {
        (self.message, self.position) = (message, position)
        (self.isOfSecret, self.isOfReference) = (isOfSecret, isOfReference)
    }

    /// One of a reference to a secret: the file's path, or the variable's name.
    static func reference(_ message: String, at position: SourcePosition) -> OptionProblem {
        OptionProblem(message, position, false, isOfReference: true)
    }

    /// The same about a value that stands where secrets are: nothing of that is quoted.
    package func concealing(_ node: OptionNode) -> OptionProblem {
        if isOfReference { return self }
        var message = message
        for text in node.texts { message = Concealed.message(message, about: text, isSecret: true) }
        return OptionProblem(message, at: position, isOfSecret: isOfSecret)
    }

    /// The same with the key whose value it is.
    package func within(_ key: String) -> OptionProblem {
        OptionProblem("'\(key)': \(message)", position, isOfSecret, isOfReference: isOfReference)
    }
}

extension OptionProblem: CustomStringConvertible {
    /// The message.
    public var description: String { message }
}

extension OptionNode {
    /// All texts in it, also of keys that are more than names.
    fileprivate var texts: [String] {
        switch content {
        case .null: []
        case .scalar(let text, _): [text]
        case .list(let members): members.flatMap(\.texts)
        case .map(let entries): entries.flatMap { ($0.name == nil ? [$0.key] : []) + $0.value.texts }
        }
    }
}
