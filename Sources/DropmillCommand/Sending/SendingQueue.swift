import Control
@preconcurrency import Dispatch
import Files
import Journal
import PipelineEngine
import PipelineKit
import Synchronization

/// Carries out what is asked of a daemon for many jobs, whether who asked is still there or not. Several runs take
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
    private nonisolated let dryRuns = Mutex(DryRuns())

    private struct Run {
        var work: any BulkRun
        let pace: Duration
        let end: ControlHandler.End
    }

    private static let stopped = "the daemon stops"

    init(_ engine: Engine) {
        self.engine = engine
    }

    /// Begins a run; `end` is called with what came of it. `isDry`: it only finds what there is.
    nonisolated func begin(
        _ kind: SendingOrder.Kind, _ order: SendingOrder, by peer: ControlPeer, isDry: Bool = false,
        end: @escaping ControlHandler.End
    ) throws(ControlProblem) -> SendingVerb.Answer {
        let query = try order.query()
        let found = try found(order, kind.rawValue)
        let answer = board.begin(isDry ? nil : kind)
        enqueue { queue in
            queue.recording.enter()
            let find = { () throws(JournalError) -> (any BulkRun)? in
                switch kind {
                case .retry, .replay: try queue.sending(kind, order, query, found, isDry)
                case .cancel: try queue.cancelling(order, query, found, isDry, by: peer)
                case .dismiss: try queue.dismissing(order, query, found, isDry, by: peer)
                }
            }
            guard let work = queue.begin(answer.run, end, find) else { return }
            queue.runs[answer.run] = Run(work: work, pace: order.pace, end: end)
            if isDry {
                queue.tell(answer.run, key: queue.keep(Array(work.rest), work.found, of: order, kind.rawValue))
                queue.end(answer.run)
            } else {
                queue.tell(answer.run)
                queue.goOn(answer.run)
            }
        }
        return answer
    }

    /// What a dry run has found, where an order is of that.
    private nonisolated func found(_ order: SendingOrder, _ verb: String) throws(ControlProblem) -> DryRuns.Found? {
        guard let key = order.key else { return nil }
        return try dryRuns.withLock { (dryRuns) throws(ControlProblem) in
            try dryRuns.take(key, verb, order, at: .now())
        }
    }

    /// Keeps what a dry run has found, and gives the key to it.
    private nonisolated func keep(
        _ jobs: [JobID], _ summary: JobSummary?, of order: SendingOrder, _ verb: String
    ) -> String {
        dryRuns.withLock { $0.keep(.init(verb: verb, order: order, jobs: jobs, summary: summary, at: .now())) }
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
    private func begin(
        _ run: String, _ end: @escaping ControlHandler.End, _ find: () throws(JournalError) -> (any BulkRun)?
    ) -> (any BulkRun)? {
        var problem = Self.stopped
        do throws(JournalError) {
            if !isStopping.load(ordering: .relaxed), let work = try find() { return work }
        } catch {
            problem = error.message
        }
        record(run, "refused: \(problem)", problem, end)
        return nil
    }

    private func sending(
        _ kind: SendingOrder.Kind, _ order: SendingOrder, _ query: JobQuery, _ found: DryRuns.Found?, _ isDry: Bool
    ) throws(JournalError) -> SendingRun? {
        guard let kind = Resubmission.Kind(kind, order),
            let resubmission = try engine.resubmission(
                kind, isStopped: { [self] in isClosing.load(ordering: .relaxed) })
        else { return nil }
        if let found { return SendingRun(found.jobs, found.summary, with: resubmission) }
        return try SendingRun(order, query, most: isDry ? DryRuns.mostJobs : .max, with: resubmission)
    }

    private func cancelling(
        _ order: SendingOrder, _ query: JobQuery, _ found: DryRuns.Found?, _ isDry: Bool, by peer: ControlPeer
    ) throws(JournalError) -> CancelRun? {
        if let found { return CancelRun(found.jobs, found.summary, of: engine, by: peer.name) }
        let most = isDry ? DryRuns.mostJobs : .max
        return try CancelRun(order, query, most: most, of: engine, by: peer.name)
    }

    private func dismissing(
        _ order: SendingOrder, _ query: JobQuery, _ found: DryRuns.Found?, _ isDry: Bool, by peer: ControlPeer
    ) throws(JournalError) -> DismissRun? {
        guard let journal = try engine.upToDateJournal() else { return nil }
        if let found { return DismissRun(found.jobs, found.summary, in: journal, by: peer.name) }
        let most = isDry ? DryRuns.mostJobs : .max
        return try DismissRun(order, query, most: most, in: journal, by: peer.name)
    }

    /// Does it to the next ones.
    private func goOn(_ run: String) {
        guard let pace = runs[run]?.pace, runs[run]?.work.rest.isEmpty == false else { return end(run) }
        if isStopping.load(ordering: .relaxed) { return end(run, Self.stopped) }
        let begun = MonotonicTime.now()
        do throws(JournalError) {
            try runs[run]?.work.goOn(pace == .zero ? SendingRun.atOnce : 1)
        } catch {
            tell(run)
            return end(run, error.message)
        }
        tell(run)
        guard runs[run]?.work.rest.isEmpty == false else { return end(run) }
        enqueue(after: max(.zero, pace - (MonotonicTime.now() - begun))) { $0.goOn(run) }
    }

    /// `key`: of a dry run, of which nothing is left.
    private func tell(_ run: String, key: String? = nil) {
        guard let results = runs[run]?.work.results(), let own = runs[run]?.work else { return }
        board.note(run) { answer in
            answer.found = own.found
            answer.results += results
            answer.left = key == nil ? own.rest.count : 0
            answer.key = key
        }
    }

    private func end(_ run: String, _ problem: String? = nil) {
        guard let own = runs.removeValue(forKey: run) else { return }
        record(run, [own.work.text, problem].compactMap { $0 }.joined(separator: "; "), problem, own.end)
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
