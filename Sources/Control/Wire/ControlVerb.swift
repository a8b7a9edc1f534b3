/// What can be asked of a running daemon: a question with its answer, or a change with its result.
package protocol ControlVerb: SendableMetatype {
    associatedtype Arguments: Codable & Sendable
    associatedtype Answer: Codable & Sendable

    /// What it is called on the line.
    static var name: String { get }
    /// Whether it changes something: that takes longer, not everybody may, and it is put on record.
    static var isChange: Bool { get }
    /// Seconds that an answer may take.
    static var patience: Int { get }
    /// What was done, for the record.
    static func result(_ answer: Answer) -> String
}

extension ControlVerb {
    package static var isChange: Bool { false }
    package static var patience: Int { isChange ? 60 : 1 }
    package static func result(_ answer: Answer) -> String { "done" }

    /// What was done, or why not, for the record.
    package static func result(_ outcome: Result<Answer, ControlProblem>) -> String {
        switch outcome {
        case .success(let answer):
            let text = result(answer)
            return text.isEmpty ? "nothing was changed" : text
        case .failure(let problem): return "refused: \(problem.message)"
        }
    }
}
