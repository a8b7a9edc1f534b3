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
    package var description: String { "\(path.text):\(position.line):\(position.column): error: \(message)" }
}

extension ConfigProblem: Comparable {
    /// By file, then by place, then by words.
    package static func < (left: ConfigProblem, right: ConfigProblem) -> Bool {
        if left.path != right.path { return left.path.bytes.lexicographicallyPrecedes(right.path.bytes) }
        return (left.position, left.message) < (right.position, right.message)
    }
}

/// Why pipelines cannot be used: every problem of every file, sorted.
package struct ConfigProblems: Error, Sendable, CustomStringConvertible {
    /// The problems; at least one.
    package let all: [ConfigProblem]

    /// Sorts the problems and drops what is said twice (an anchor that is used twice is read twice).
    init(_ problems: [ConfigProblem]) { all = Set(problems).sorted() }

    /// A line for each.
    package var description: String { all.map(\.description).joined(separator: "\n") }
}

extension SourcePosition {
    /// The beginning of a file.
    package static let start = SourcePosition(line: 1, column: 1)
}
