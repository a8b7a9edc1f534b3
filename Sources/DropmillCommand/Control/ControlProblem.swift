/// Why there is no answer: a sentence.
struct ControlProblem: Error, Equatable, Sendable {
    let message: String

    init(_ message: String) { self.message = message }
}
