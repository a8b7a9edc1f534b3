@preconcurrency import Dispatch
package import PipelineKit
package import SystemPackage

/// How an engine is to run.
package struct EngineConfiguration: Sendable {
    /// The state folder: lock, and later the journal. Made if missing.
    package var state: FilePath
    /// Whether to settle what is in the inboxes now and then finish.
    package var once: Bool
    /// How long the journal keeps jobs that are over.
    package var keepHistory: Duration

    /// A configuration.
    package init(state: FilePath, once: Bool = false, keepHistory: Duration = .seconds(90 * 86400)) {
        self.state = state
        self.once = once
        self.keepHistory = keepHistory
    }
}

/// Why an engine cannot start: a sentence with its remedy.
package struct EngineError: Error, Sendable {
    /// What kind of trouble it is.
    package enum Kind: Sendable {
        /// Another instance holds the state or a work folder.
        case locked
        /// A folder cannot be used as configured.
        case configuration
    }

    /// The kind.
    package let kind: Kind
    /// The sentence.
    package let message: String
}

/// Runs pipelines. Everything that is decided is decided on its one serial queue; what blocks happens elsewhere and
/// comes back as messages.
// @unchecked: every `var` below is touched on `queue` only.
package final class Engine: @unchecked Sendable {
    private enum Message: Sendable {
        case intake(Int, Intake.Message)
        case stage(Int, StageWorkers.Result)
        case settled(Int, [Settler.Outcome])
    }

    private let pipelines: [Pipeline]
    private let configuration: EngineConfiguration
    private let observer: @Sendable (EngineEvent) -> Void
    private let queue = DispatchQueue(label: "dropmill.engine")
    private var runners: [PipelineRunner] = []
    private var retiring: [PipelineRunner] = []
    private var inotify: InotifyEvents?
    private var stateLock: FolderLock?
    private var ticker: (any DispatchSourceTimer)?
    private var finished: (@Sendable (RunSummary) -> Void)?
    private var isStopping = false

    /// How often running stages are told about, from when they have run that long.
    private static let tick = Duration.seconds(2)

    /// How long a stage that was called off may take to notice.
    private static let afterGrace = Duration.seconds(5)

    /// An engine for these pipelines; nothing is touched yet.
    package init(
        pipelines: [Pipeline], configuration: EngineConfiguration, observer: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.pipelines = pipelines
        self.configuration = configuration
        self.observer = observer
    }

    /// Takes the locks, makes missing folders, adopts what lies in the work folders and begins to watch. `finished` is
    /// called once, on a queue of the engine: with `once` when all is settled, else after `stop`.
    package func start(finished: @escaping @Sendable (RunSummary) -> Void) throws(EngineError) {
        let lock = try lockState()
        var spools: [(spool: Spool, jobs: [Job])] = []
        for pipeline in pipelines { spools.append(try prepare(pipeline)) }
        queue.sync {
            stateLock = lock
            self.finished = finished
            run(spools)
        }
    }

    /// Stops claiming, lets running stages finish for so long, calls the rest off and then reports `finished`. Asking
    /// again changes nothing.
    package func stop(grace: Duration) {
        queue.async { @Sendable [self] in stopWorking(grace: grace) }
    }

    // MARK: Starting

    private func lockState() throws(EngineError) -> FolderLock {
        do throws(IOError) {
            try Folder.make(configuration.state, mode: 0o700)
        } catch {
            throw EngineError(kind: .configuration, message: "\(error); name another state folder with --state")
        }
        return try FolderLock(configuration.state, describedAs: "the state folder")
    }

    private func prepare(_ pipeline: Pipeline) throws(EngineError) -> (spool: Spool, jobs: [Job]) {
        do throws(IOError) {
            try Folder.make(pipeline.inbox)
            if case .folder(let processed) = pipeline.processed { try Folder.make(processed) }
            try Folder.make(pipeline.failed)
        } catch {
            throw EngineError(kind: .configuration, message: "\(pipeline.source.text): error: \(error)")
        }
        let work = try WorkFolder(for: pipeline)
        do throws(IOError) {
            let findings = try Recovery.adopt(work, pipeline: pipeline.name)
            for stranger in findings.strangers {
                observer(
                    .warning(pipeline: pipeline.name, message: "'\(stranger.text)' is no job of ours; it is left alone")
                )
            }
            return (Spool(pipeline: pipeline, work: work), findings.jobs)
        } catch {
            throw EngineError(kind: .configuration, message: "\(pipeline.source.text): error: \(error)")
        }
    }

    private func run(_ spools: [(spool: Spool, jobs: [Job])]) {
        do throws(IOError) {
            inotify = try InotifyEvents()
        } catch {
            // Every watcher says that it polls, and why.
            inotify = nil
        }
        let ids = JobIDGenerator()
        let mailbox = Mailbox<Message>(on: queue) { @Sendable [self] messages in take(messages) }
        for (index, (spool, _)) in spools.enumerated() {
            let intake = Intake(spool: spool, inotify: inotify, ids: ids, once: configuration.once) { message in
                mailbox.post(.intake(index, message))
            }
            runners.append(
                PipelineRunner(
                    spool: spool, intake: intake, observer: observer,
                    deliverStage: { mailbox.post(.stage(index, $0)) },
                    deliverSettled: { mailbox.post(.settled(index, $0)) },
                    later: { @Sendable [self] delay, body in after(delay, index, body) }))
        }
        for (runner, (_, jobs)) in zip(runners, spools) {
            observer(.started(pipeline: runner.pipeline.name, inbox: runner.pipeline.inbox, adopted: jobs.count))
            runner.intake.start(adopting: jobs)
        }
        startTicker()
    }

    private func after(_ delay: Duration, _ index: Int, _ body: @escaping @Sendable (PipelineRunner) -> Void) {
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(delay.nanoseconds))) { @Sendable [self] in
            guard runners.indices.contains(index) else { return }
            body(runners[index])
            finishIfDone()
        }
    }

    // MARK: Running

    private func take(_ messages: [Message]) {
        dispatchPrecondition(condition: .onQueue(queue))
        guard !runners.isEmpty else { return }
        for message in messages {
            switch message {
            case .intake(let index, let message): runners[index].take(message)
            case .stage(let index, let result): runners[index].take(result)
            case .settled(let index, let outcomes): runners[index].take(outcomes)
            }
        }
        finishIfDone()
    }

    private func startTicker() {
        let timer = DispatchSource.makeTimerSource(queue: queue)
        let pause = Int(Self.tick.nanoseconds)
        timer.schedule(
            deadline: .now() + .nanoseconds(pause), repeating: .nanoseconds(pause), leeway: .milliseconds(100))
        timer.setEventHandler { @Sendable [weak self] in self?.tellProgress() }
        timer.activate()
        ticker = timer
    }

    private func tellProgress() {
        let now = MonotonicTime.now()
        for runner in runners where !runner.busy.isEmpty {
            for (stage, workers) in runner.workers.enumerated() {
                for running in workers.running where now - running.since >= Self.tick {
                    observer(
                        .stageProgress(
                            running.work.job, stage: runner.pipeline.stages[stage].kind, running: now - running.since,
                            progress: running.progress))
                }
            }
        }
    }

    // MARK: Stopping

    private func stopWorking(grace: Duration) {
        guard !isStopping, !runners.isEmpty else { return }
        isStopping = true
        for runner in runners { runner.stop() }
        observer(.stopping(running: runners.reduce(0) { $0 + $1.busy.count }, grace: grace))
        finishIfDone()
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int(grace.nanoseconds))) { @Sendable [self] in
            for runner in runners { runner.workers.forEach { $0.cancel() } }
        }
        // A stage that does not look up is left behind; its job is found again at the next start.
        queue.asyncAfter(deadline: .now() + .nanoseconds(Int((grace + Self.afterGrace).nanoseconds))) {
            @Sendable [self] in
            finish()
        }
    }

    private func finishIfDone() {
        guard !runners.isEmpty else { return }
        if isStopping ? runners.allSatisfy(\.isQuiet) : configuration.once && runners.allSatisfy(\.isDone) { finish() }
    }

    /// Closes everything and reports.
    private func finish() {
        guard let finished else { return }
        self.finished = nil
        ticker?.cancel()
        ticker = nil
        retiring = runners
        runners = []
        let group = DispatchGroup()
        for runner in retiring {
            group.enter()
            runner.intake.stop { @Sendable in group.leave() }
        }
        group.notify(queue: queue) { @Sendable [self] in
            inotify?.stop()
            inotify = nil
            let summary = summary(of: retiring)
            for runner in retiring { runner.intake.spool.work.release() }
            retiring = []
            stateLock?.release()
            finished(summary)
        }
    }

    private func summary(of runners: [PipelineRunner]) -> RunSummary {
        var summary = RunSummary()
        for runner in runners {
            summary.processed += runner.summary.processed
            summary.failed += runner.summary.failed
            summary.unfinished += runner.jobs.count
            for name in runner.remaining ?? [] {
                summary.remaining.append(
                    RunSummary.Remaining(pipeline: runner.pipeline.name, name: name, reason: "still being written"))
            }
        }
        return summary
    }
}
