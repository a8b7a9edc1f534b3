/// Why there is no answer: a sentence.
struct ControlProblem: Error, Equatable, Sendable {
    let message: String
    /// Whether it is not for who asks.
    let isForbidden: Bool

    init(_ message: String, isForbidden: Bool = false) { (self.message, self.isForbidden) = (message, isForbidden) }
}
