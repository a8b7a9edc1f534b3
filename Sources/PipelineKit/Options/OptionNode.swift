/// A configured value as it was read, whatever the file's language: with where it stands, not yet understood.
package struct OptionNode: Sendable, Equatable {
    /// A key of a map with its value.
    package struct Entry: Sendable, Equatable {
        package let key: String
        /// Where the key stands.
        package let position: SourcePosition
        /// What it is set to.
        package let value: OptionNode

        package init(key: String, position: SourcePosition, value: OptionNode) {
            self.key = key
            self.position = position
            self.value = value
        }
    }

    /// What was written.
    package indirect enum Content: Sendable, Equatable {
        /// Nothing: `~`, `null`, or no value.
        case null
        /// Text; `quoted` where it stood in quotation marks and so is not a number and no truth value.
        case scalar(String, quoted: Bool)
        case list([OptionNode])
        /// A map, in the order it was written.
        case map([Entry])
    }

    /// Where the value begins.
    package let position: SourcePosition
    package let content: Content

    package init(_ content: Content, at position: SourcePosition) {
        self.content = content
        self.position = position
    }

    /// Whether nothing was written.
    package var isNull: Bool { content == .null }

    /// What kind of thing it is, for messages.
    package var kind: String {
        switch content {
        case .null: "nothing"
        case .scalar(let text, _): "'\(text)'"
        case .list: "a list"
        case .map: "a map"
        }
    }

    /// The same without what was written, which may be a secret.
    package var kindAlone: String { if case .scalar = content { "a string" } else { kind } }

    /// A problem at this value.
    package func problem(_ message: String) -> OptionProblem { OptionProblem(message, at: position) }
}
