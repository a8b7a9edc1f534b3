/// Where something stands in a file: line and column count from 1.
package struct SourcePosition: Hashable, Sendable, Comparable {
    package let line: Int
    /// The column in characters, from 1.
    package let column: Int

    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// Earlier in the file first.
    package static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }
}
