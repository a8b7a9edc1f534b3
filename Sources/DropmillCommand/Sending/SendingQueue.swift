@preconcurrency import Dispatch
import Files
import Journal
import PipelineEngine
import PipelineKit
import Synchronization

/// Carries out what `retry` and `replay` ask of a daemon, whether who asked is still there or not. Several runs take
/// turns, each at its own pace, and nothing else waits for them.
actor SendingQueue: QueueActor {
    nonisolated let executor = QueueExecutor(label: "dropmill.sending")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    nonisolated let board = SendingBoard()
    private let engine: Engine
    /// Whether nothing more is begun.
    private nonisolated let isStopping = Atomic(false)
    /// Whether not even the copy at hand is finished.
    private nonisolated let isClosing = Atomic(false)
    /// Those that are to be put on record as over.
    private let recording = DispatchGroup()
    private var runs: [String: Run] = [:]

    private struct Run {
        var sending: SendingRun
        let pace: Duration
        let end: ControlHandler.End
    }

    private static let stopped = "the daemon stops"

    init(_ engine: Engine) {
        self.engine = engine
    }

    /// Begins a run; `end` is called with what came of it. `isRehearsal`: it only finds what there is.
    nonisolated func begin(
        _ kind: SendingOrder.Kind, _ order: SendingOrder, isRehearsal: Bool = false, end: @escaping ControlHandler.End
    ) throws(ControlProblem) -> SendingVerb.Answer {
        let query = try order.query()
        let answer = board.begin(isRehearsal ? nil : kind)
        enqueue { queue in
            queue.recording.enter()
            guard let sending = queue.find(answer.run, kind, order, query, end) else { return }
            queue.runs[answer.run] = Run(sending: sending, pace: order.pace, end: end)
            queue.tell(answer.run, isRehearsal: isRehearsal)
            if isRehearsal { queue.end(answer.run) } else { queue.goOn(answer.run) }
        }
        return answer
    }

    /// Ends a run after the job at hand.
    nonisolated func halt(_ run: String) { enqueue { queue in queue.end(run, "it was halted") } }

    /// Ends all runs after the job at hand.
    nonisolated func stop() {
        isStopping.store(true, ordering: .relaxed)
        enqueue { queue in
            for run in queue.runs.keys { queue.end(run, SendingQueue.stopped) }
        }
    }

    /// The same; calls back once that is on record. What waits for a disk that does not answer holds nobody up.
    nonisolated func close(_ done: @escaping @Sendable () -> Void) {
        stop()
        let isDone = DispatchSemaphore(value: 0)
        enqueue { queue in queue.recording.notify(queue: queue.executor.queue) { @Sendable in isDone.signal() } }
        DispatchQueue.global().async { @Sendable [self] in
            if isDone.wait(timeout: .now() + .seconds(5)) == .timedOut {
                isClosing.store(true, ordering: .relaxed)
                _ = isDone.wait(timeout: .now() + .seconds(1))
            }
            done()
        }
    }

    /// Nil where it has failed.
    private func find(
        _ run: String, _ kind: SendingOrder.Kind, _ order: SendingOrder, _ query: JobQuery,
        _ end: @escaping ControlHandler.End
    ) -> SendingRun? {
        var problem = Self.stopped
        do throws(JournalError) {
            if !isStopping.load(ordering: .relaxed),
                let resubmission = try engine.resubmission(
                    Resubmission.Kind(kind, order),
                    isStopped: { [self] in isClosing.load(ordering: .relaxed) })
            {
                return try SendingRun(order, query, with: resubmission)
            }
        } catch {
            problem = error.message
        }
        record(run, "refused: \(problem)", problem, end)
        return nil
    }

    /// Sends the next one in.
    private func goOn(_ run: String) {
        guard let own = runs[run]?.sending, own.left > 0 else { return end(run) }
        if isStopping.load(ordering: .relaxed) { return end(run, Self.stopped) }
        let begun = MonotonicTime.now()
        do throws(JournalError) {
            try runs[run]?.sending.sendNext()
        } catch {
            return end(run, error.message)
        }
        tell(run)
        guard own.left > 1 else { return end(run) }
        let pace = runs[run]?.pace ?? .zero
        enqueue(after: max(.zero, pace - (MonotonicTime.now() - begun))) { $0.goOn(run) }
    }

    private func tell(_ run: String, isRehearsal: Bool = false) {
        guard let results = runs[run]?.sending.results(), let own = runs[run]?.sending else { return }
        board.note(run) { answer in
            answer.found = own.found
            answer.results += results
            answer.left = isRehearsal ? 0 : own.left
        }
    }

    private func end(_ run: String, _ problem: String? = nil) {
        guard let own = runs.removeValue(forKey: run) else { return }
        record(run, [own.sending.text, problem].compactMap { $0 }.joined(separator: "; "), problem, own.end)
    }

    /// On record first, so that who is told that it is over finds it there.
    private func record(
        _ run: String, _ text: String, _ problem: String?, _ end: @escaping ControlHandler.End
    ) {
        end(text) { @Sendable [board, recording] in
            board.note(run) { answer in
                answer.problem = problem
                answer.isOver = true
            }
            recording.leave()
        }
    }
}
