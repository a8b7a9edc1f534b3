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

        /// The key as a message may name it: `'key'`, or nothing where it may be a value that has slipped.
        package var name: String? {
            let isPlain =
                (1...64).contains(key.utf8.count)
                && key.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "_-.".contains($0)) }
            return isPlain && !value.isNull ? "'\(key)'" : nil
        }

        /// A problem with the key. What of it is a secret by its form is not quoted.
        package func problem(_ message: String) -> OptionProblem {
            OptionProblem(Concealed.message(message, about: key), at: position)
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

    /// A problem at this value. What of it is a secret by its form is not quoted.
    package func problem(_ message: String) -> OptionProblem {
        guard case .scalar(let text, _) = content else { return OptionProblem(message, at: position) }
        return OptionProblem(Concealed.message(message, about: text), at: position)
    }
}
