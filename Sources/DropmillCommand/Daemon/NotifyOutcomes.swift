import Control
import Synchronization

/// Gathers what becomes of messages that are sent at the same time, and answers with the last.
final class NotifyOutcomes: Sendable {
    private let count: Int
    private let done: @Sendable (Result<NotifyVerb.Answer, ControlProblem>) -> Void
    private let all = Mutex<[NotifyVerb.Outcome]>([])

    /// `count`: how many there will be.
    init(of count: Int, _ done: @escaping @Sendable (Result<NotifyVerb.Answer, ControlProblem>) -> Void) {
        (self.count, self.done) = (count, done)
    }

    func add(_ outcome: NotifyVerb.Outcome) {
        let all = all.withLock { all in
            all.append(outcome)
            return all
        }
        if all.count == count { done(.success(.init(outcomes: all.sorted { $0.entry < $1.entry }))) }
    }
}
