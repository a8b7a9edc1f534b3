import Dispatch
import Synchronization

/// How a server ended, for the thread that waits for it.
final class ServeOutcome: Sendable {
    private let isOver = DispatchSemaphore(value: 0)
    private let problem = Mutex<String?>(nil)

    func end(_ problem: String?) {
        self.problem.withLock { $0 = problem }
        isOver.signal()
    }

    /// Why it ended; nil where it was told to.
    func wait() -> String? {
        isOver.wait()
        return problem.withLock { $0 }
    }
}
