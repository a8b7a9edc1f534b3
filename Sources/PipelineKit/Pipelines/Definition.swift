/// Fingerprints of what the stages of a pipeline do to a drop, one for each, in order: equal for stages of the same
/// kind with the same options and targets, however they are written.
package struct Definition: Sendable, Hashable {
    /// All of them, as they are written down.
    package let text: String

    package init(stages: [String]) { text = stages.joined(separator: " ") }

    /// One that was written down.
    package init(text: String) { self.text = text }

    /// One fingerprint for each stage.
    package var stages: [Substring] { text.split(separator: " ") }

    /// How many stages both begin with.
    package func sharedBeginning(with other: Definition) -> Int {
        zip(stages, other.stages).prefix { $0 == $1 }.count
    }
}

extension Definition: ExpressibleByStringLiteral {
    package init(stringLiteral text: String) { self.init(text: text) }
}
