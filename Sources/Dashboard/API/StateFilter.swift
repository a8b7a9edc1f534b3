import Files
import Journal
import PipelineKit

/// States as people choose jobs by them: those that are cancelled have failed, with a code of their own.
struct StateFilter {
    let states: [JobRecord.State]
    let code: String?

    private static let cancelled = "cancelled"

    /// `code`: that is asked for besides; `problem`: what is thrown with a fact and a remedy.
    init(
        _ words: [String], code: String?, or problem: (_ fact: String, _ remedy: String) -> Problem
    ) throws(Problem) {
        var states: [JobRecord.State] = []
        for word in words where word != Self.cancelled {
            guard let state = JobRecord.State(rawValue: word) else {
                let known = JobRecord.State.allCases.map(\.rawValue) + [Self.cancelled]
                throw problem(
                    "'\(EscapedText.of(word))' is no state of a job", "Use \(known.joined(separator: ", ")).")
            }
            states.append(state)
        }
        guard words.contains(Self.cancelled), !states.contains(.failed) else {
            (self.states, self.code) = (states, code)
            return
        }
        guard states.isEmpty, code ?? Failure.cancelCode == Failure.cancelCode else {
            throw problem("'cancelled' goes with no other state than 'failed'", "Ask for the others without it.")
        }
        (self.states, self.code) = ([.failed], Failure.cancelCode)
    }
}
