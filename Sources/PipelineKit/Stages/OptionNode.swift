/// Where something stands in a file: line and column count from 1.
package struct SourcePosition: Hashable, Sendable, Comparable {
    /// The line, from 1.
    package let line: Int
    /// The column in characters, from 1.
    package let column: Int

    /// A position.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Earlier in the file first.
    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}

/// A configured value as it was read, whatever the file's language: with where it stands, not yet understood.
package struct OptionNode: Sendable, Equatable {
    /// A key of a map with its value.
    package struct Entry: Sendable, Equatable {
        /// The key's text.
        package let key: String
        /// Where the key stands.
        package let position: SourcePosition
        /// What it is set to.
        package let value: OptionNode

        /// An entry.
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
        /// Text; `quoted` where it stood in quotation marks and so is no number and no truth value.
        case scalar(String, quoted: Bool)
        /// A list.
        case list([OptionNode])
        /// A map, in the order it was written.
        case map([Entry])
    }

    /// Where the value begins.
    package let position: SourcePosition
    /// What it is.
    package let content: Content

    /// A value at a place.
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

    /// A problem at this value.
    package func problem(_ message: String) -> OptionProblem { OptionProblem(message, at: position) }
}

/// What is wrong with a configured value, and where.
package struct OptionProblem: Error, Hashable, Sendable {
    /// A sentence without a final stop, with the remedy.
    package let message: String
    /// Where.
    package let position: SourcePosition

    /// A problem.
    package init(_ message: String, at position: SourcePosition) {
        self.message = message
        self.position = position
    }
}
