/// Why there is no answer: a sentence.
package struct ControlProblem: Error, Equatable, Sendable {
    package let message: String
    /// Whether it is not for who asks.
    package let isForbidden: Bool

    package init(_ message: String, isForbidden: Bool = false) {
        (self.message, self.isForbidden) = (message, isForbidden)
    }
}
