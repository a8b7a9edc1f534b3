import SystemPackage

/// Why pipelines cannot be used: every problem of every file, sorted.
package struct ConfigProblems: Error, Sendable, CustomStringConvertible {
    package let all: [ConfigProblem]

    /// Sorts the problems and drops what is said twice (an anchor that is used twice is read twice).
    package init(_ problems: [ConfigProblem]) { all = Set(problems).sorted() }

    /// A line for each.
    package var description: String { all.map(\.description).joined(separator: "\n") }
}
