import Files
package import PipelineKit
package import SystemPackage

/// What is wrong with a pipeline file, and where.
package struct ConfigProblem: Sendable, Hashable {
    /// The file (or folder), as it was given.
    package let path: FilePath
    /// Where in it; 1:1 for what concerns it as a whole.
    package let position: SourcePosition
    /// A sentence without a final stop, with the remedy.
    package let message: String

    /// A problem at a place in a file.
    package init(_ message: String, in path: FilePath, at position: SourcePosition = .start) {
        self.path = path
        self.position = position
        self.message = message
    }
}

extension ConfigProblem: CustomStringConvertible {
    /// `pipelines/scan.yaml:12:7: error: …`, as compilers print it, so that editors can jump there.
    /// What is quoted from the file is made safe to print.
    package var description: String {
        "\(path.text):\(position.line):\(position.column): error: \(EscapedText.printable(message))"
    }
}

extension ConfigProblem: Comparable {
    /// By file, then by place, then by words.
    package static func < (left: ConfigProblem, right: ConfigProblem) -> Bool {
        if left.path != right.path { return left.path.bytes.lexicographicallyPrecedes(right.path.bytes) }
        return (left.position, left.message) < (right.position, right.message)
    }
}

extension SourcePosition {
    /// The beginning of a file.
    package static let start = SourcePosition(line: 1, column: 1)
}
