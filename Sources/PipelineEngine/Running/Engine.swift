@preconcurrency import Dispatch
package import Files
import FolderWatch
package import Journal
package import PipelineKit
import SystemPackage

/// Runs pipelines. Everything that is decided is decided on its one serial queue; what blocks happens elsewhere and
/// comes back as messages.
package actor Engine: QueueActor {
    enum Message: Sendable {
        case intake(Int, Intake.Message)
        case stage(Int, StageWorkers.Result)
        case settled(Int, [Settler.Outcome])
    }

    let pipelines: [Pipeline]
    let configuration: EngineConfiguration
    let observer: @Sendable (EngineEvent) -> Void
    package nonisolated let executor = QueueExecutor(label: "dropmill.engine")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    /// What all of them made for outputs.
    let madeFolders = MadeFolders()
    let renames = RenameTurns()
    let outstandingLines = OutstandingLines()
    var runners: [PipelineRunner] = []
    private var retiring: [PipelineRunner] = []
    private var events: (any FolderEvents)?
    private var opened: OpenedState?
    private var inboxLocks: [FolderLock] = []
    private var ticker: (any DispatchSourceTimer)?
    private var finished: (@Sendable (RunSummary) -> Void)?
    private var isStopping = false
    /// What is not begun yet, because quarantined jobs run alone before it; nil once the inboxes are open.
    private var notBegun: [Prepared]?
    /// Jobs that may have killed the daemon, in the order in which they run alone.
    private var quarantine: ArraySlice<(runner: Int, id: JobID)> = []
    /// The one of them that runs.
    private var admitted: (runner: Int, id: JobID)?

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

    /// Takes the locks, makes missing folders, opens the journal, brings it together with the work folders and begins
    /// to watch. `finished` is called once, on a queue of the engine: with `once` when all is settled, else after
    /// `stop`.
    package nonisolated func start(finished: @escaping @Sendable (RunSummary) -> Void) throws(EngineError) {
        try DescriptorLimit.check(pipelines: pipelines.count)
        let (state, unfinished) = try openState()
        var prepared: [Prepared] = []
        do throws(EngineError) {
            try prepare(&prepared, with: state, unfinished)
        } catch {
            for pipeline in prepared { pipeline.spool.work.release() }
            state.close()
            throw error
        }
        sync { [prepared] engine in
            engine.opened = state
            engine.finished = finished
            engine.run(prepared, state)
        }
    }

    /// Stops claiming, lets running stages finish for so long, calls the rest off and then reports `finished`. Asking
    /// again changes nothing.
    package nonisolated func stop(grace: Duration) { enqueue { engine in engine.stopWorking(grace: grace) } }

    /// Frees what is kept for speed alone. Blocks while the journal is written.
    package nonisolated func releaseMemory() { sync { $0.opened }?.journal.releaseMemory() }

    /// Sends a failed job's original back into its inbox; nil where the engine does not run. Blocks.
    package nonisolated func resubmit(_ id: JobID) throws(JournalError) -> Resubmission? {
        guard let opened = sync({ $0.opened }) else { return nil }
        try opened.writer.flush()
        var resubmission = try Resubmission(opened.journal)
        try resubmission.send(id)
        return resubmission
    }

    // MARK: Starting

    private func run(_ prepared: [Prepared], _ state: OpenedState) {
        // Where there are none, every watcher says that it polls, and why.
        let events = SystemEvents.open()
        self.events = events
        inboxLocks = prepared.compactMap(\.inboxLock)
        let ids = JobIDGenerator()
        let mailbox = Mailbox<Message>(on: executor.queue) { @Sendable [self] messages in
            assumeIsolated { $0.receive(messages) }
        }
        for (index, pipeline) in prepared.enumerated() {
            let intake = Intake(
                spool: pipeline.spool, events: events, ids: ids, once: configuration.once, judge: configuration.judge
            ) { message in
                mailbox.post(.intake(index, message))
            }
            runners.append(
                PipelineRunner(
                    spool: pipeline.spool, intake: intake, journal: state.writer,
                    seen: JournalMemory(state.journal), observer: observer,
                    deliverStage: { mailbox.post(.stage(index, $0)) },
                    deliverSettled: { mailbox.post(.settled(index, $0)) },
                    quarantine: { [unowned self] id in quarantine.append((index, id)) },
                    later: { @Sendable [self] delay, body in after(delay, index, body) }))
        }
        for (runner, pipeline) in zip(runners, prepared) {
            for resumed in pipeline.findings.resumed where resumed.isQuarantined { runner.enter(resumed) }
            runner.endTurn()
        }
        notBegun = prepared
        if isStopping { return finish() }
        runQuarantined()
        startTicker()
    }

    /// Runs quarantined jobs one after another, before anything else begins. (Those that
    /// the journal did not know come later, when it is seen that they are whole, and still one after another.)
    private func runQuarantined() {
        guard !isStopping else { return }
        while true {
            if let admitted, runners[admitted.runner].machine.isBusy(admitted.id) { return }
            admitted = quarantine.popFirst()
            guard let admitted else { break }
            runners[admitted.runner].send(.admitted(admitted.id))
            runners[admitted.runner].endTurn()
        }
        guard let prepared = notBegun else { return }
        notBegun = nil
        begin(prepared)
    }

    /// Resumes what earlier runs left, and opens the inboxes.
    private func begin(_ prepared: [Prepared]) {
        for (runner, pipeline) in zip(runners, prepared) {
            let findings = pipeline.findings
            let count = findings.resumed.count + findings.adopted.count
            observer(.started(pipeline: runner.pipeline.name, inbox: runner.pipeline.inbox, adopted: count))
            runner.works = pipeline.works
            runner.note()
            runner.parked = findings.parked + findings.stranded.count
            runner.intake.start(adopting: findings.adopted, resumed: findings.resumed.map(\.job.drop.size))
            for resumed in findings.resumed where !resumed.isQuarantined { runner.enter(resumed) }
            runner.endTurn()
        }
    }

    private nonisolated func after(
        _ delay: Duration, _ index: Int, _ body: @escaping @Sendable (PipelineRunner) -> Void
    ) {
        enqueue(after: delay) { engine in
            guard engine.runners.indices.contains(index) else { return }
            body(engine.runners[index])
            engine.runners[index].endTurn()
            engine.finishIfDone()
        }
    }

    // MARK: Running

    /// The journal knows nothing any more: all is written down that is not over.
    nonisolated func writeAll() {
        enqueue { engine in
            for runner in engine.runners { runner.writeAll() }
        }
    }

    private func receive(_ messages: [Message]) {
        guard !runners.isEmpty else { return }
        for message in messages {
            switch message {
            case .intake(let index, let message): runners[index].receive(message)
            case .stage(let index, let result): runners[index].receive(result)
            case .settled(let index, let outcomes): runners[index].receive(outcomes)
            }
        }
        for runner in runners { runner.endTurn() }
        finishIfDone()
    }

    private func startTicker() {
        ticker = executor.queue.every(Self.tick, leeway: .milliseconds(100)) { @Sendable [weak self] in
            self?.assumeIsolated { $0.reportProgress() }
        }
    }

    private func reportProgress() {
        let now = MonotonicTime.now()
        for runner in runners {
            runner.intake.reportWaitingCount()
            for (stage, workers) in runner.workers.enumerated() {
                for running in workers.running where now - running.since >= Self.tick {
                    observer(
                        .stageProgress(
                            running.work.job, stage: runner.pipeline.allStages[stage].kind,
                            running: now - running.since,
                            progress: running.progress))
                }
            }
        }
    }

    // MARK: Stopping

    private func stopWorking(grace: Duration) {
        guard !isStopping else { return }
        isStopping = true
        // Asked for before there is anything to stop: `run` ends at once then.
        guard !runners.isEmpty else { return }
        for runner in runners { runner.stop() }
        observer(.stopping(running: runners.reduce(0) { $0 + $1.machine.busyCount }, grace: grace))
        finishIfDone()
        // Nothing of it stays until then if all is quiet earlier.
        executor.queue.after(grace) { @Sendable [weak self] in
            self?.assumeIsolated { for runner in $0.runners { runner.workers.forEach { $0.cancel() } } }
        }
        // A stage that does not look up is left behind; its job is found again at the next start.
        executor.queue.after(grace + Self.afterGrace) { @Sendable [weak self] in
            self?.assumeIsolated { $0.finish() }
        }
    }

    private func finishIfDone() {
        guard !runners.isEmpty else { return }
        runQuarantined()
        let isOver = configuration.once && notBegun == nil && runners.allSatisfy(\.isDone)
        if isStopping ? runners.allSatisfy(\.isQuiet) : isOver { finish() }
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
        group.notify(queue: executor.queue) { @Sendable [self] in
            assumeIsolated { engine in finished(engine.close()) }
        }
    }

    private func close() -> RunSummary {
        events?.stop()
        events = nil
        let summary = summary(of: retiring)
        // Where a stage was left behind, or what stages made is not on the disk, the run has not ended in order.
        if retiring.allSatisfy({ $0.isQuiet && $0.hasResultsOnDisk() }) { opened?.end(observer) }
        opened?.close()
        for runner in retiring { runner.intake.spool.work.release() }
        inboxLocks.forEach { $0.release() }
        inboxLocks = []
        retiring = []
        opened = nil
        return summary
    }

    private func summary(of runners: [PipelineRunner]) -> RunSummary {
        var summary = RunSummary()
        for runner in runners {
            summary.processed += runner.summary.processed
            summary.failed += runner.summary.failed
            summary.unfinished += runner.machine.jobs.count + runner.parked
            if runner.machine.pause.isPaused, let reason = runner.machine.pause.reason {
                summary.paused[runner.pipeline.name] = reason.summary
            }
            for left in runner.remaining ?? [] {
                summary.remaining.append(
                    RunSummary.Remaining(
                        pipeline: runner.pipeline.name, path: left.path, reason: left.reason,
                        isContradicted: left.isContradicted))
            }
        }
        return summary
    }
}
