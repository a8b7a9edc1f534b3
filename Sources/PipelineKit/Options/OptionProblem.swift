/// What is wrong with a configured value, and where.
package struct OptionProblem: Error, Hashable, Sendable {
    /// A sentence without a final stop, with the remedy.
    package let message: String
    /// Where.
    package let position: SourcePosition

    package init(_ message: String, at position: SourcePosition) {
        self.message = message
        self.position = position
    }
}
