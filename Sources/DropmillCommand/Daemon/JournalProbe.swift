import Files
import Journal
import PipelineEngine
import Synchronization

/// Whether the journal can be written. That is tried every few seconds at most, however many ask.
final class JournalProbe: Sendable {
    private struct Finding {
        let time: MonotonicTime
        let problem: String?
    }

    private static let memory = Duration.seconds(3)

    private let last = Mutex<Finding?>(nil)
    private let attempt: @Sendable () throws(JournalError) -> Void

    init(_ attempt: @escaping @Sendable () throws(JournalError) -> Void) { self.attempt = attempt }

    /// Why it cannot; nil where it can. Blocks.
    var problem: String? {
        let now = MonotonicTime.now()
        if let last = last.withLock({ $0 }), now - last.time < Self.memory { return last.problem }
        var problem: String?
        do throws(JournalError) { try attempt() } catch { problem = error.message }
        last.withLock { [problem] in $0 = Finding(time: now, problem: problem) }
        return problem
    }
}
