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
        case intake(RunnerID, Intake.Message)
        case stage(RunnerID, StageWorkers.Result)
        case settled(RunnerID, [Settler.Outcome])
    }

    /// Those that it starts with.
    let pipelines: [Pipeline]
    let configuration: EngineConfiguration
    let observer: @Sendable (EngineEvent) -> Void
    package nonisolated let executor = QueueExecutor(label: "dropmill.engine")
    package nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }
    /// What all of them made for outputs.
    let madeFolders = MadeFolders()
    let renames = RenameTurns()
    let outstandingLines = OutstandingLines()
    let reserved = ReservedFolders()
    /// One for each pipeline, in order.
    var runners: [PipelineRunner] = []
    /// Those in work folders that pipelines had before: what is unfinished there goes on, and nothing comes in.
    var tails: [PipelineRunner] = []
    /// Lock the inboxes against other daemons of this host, but for those that another one watches.
    var inboxLocks: [FilePath: FolderLock] = [:]
    /// Those of earlier generations, which end what they have under way.
    var retired: [PipelineRunner] = []
    /// All of these, by their ids.
    var known: [RunnerID: PipelineRunner] = [:]
    /// The number of the last one of each name.
    private var generations: [String: Int] = [:]
    var closing: [PipelineRunner] = []
    var events: (any FolderEvents)?
    var opened: OpenedState?
    private let ids = JobIDGenerator()
    private lazy var mailbox = Mailbox<Message>(on: executor.queue) { @Sendable [weak self] messages in
        self?.assumeIsolated { $0.receive(messages) }
    }
    /// What runners did that are closed.
    var past = RunSummary()
    /// What pipelines did lately, by their names.
    var lately: [String: Lately] = [:]
    /// What people hold, on any node, and what of that holds pipelines here: whatever becomes of their runners.
    var orders: [HoldRecord] = []
    var holds: [String: HoldRecord] = [:]
    /// What this node is called among others, and what has it look for orders there.
    var node: String?
    var orderBell: Bell?
    /// Orders of people, one after the other.
    let holding = DispatchQueue(label: "dropmill.holds")
    /// The names of all that have been loaded.
    var loaded: Set<String> = []
    /// Those that are added once their folders answer, and which do not: by their names.
    var awaited: [String: FilePath] = [:]
    /// Those that a reload is about to add: removed ones that they follow, and the locks of their inboxes, stay until
    /// it is done.
    var arriving: [Pipeline] = []
    /// Opens what a reload adds or changes.
    let lookout = Lookout(label: "dropmill.preparing")
    /// Removed pipelines whose folders are about to be given back.
    let closings = DispatchGroup()
    /// Whether what stages made for jobs of removed pipelines may not be on the disk.
    var hasLosses = false
    /// What has something to write before the journal is closed.
    var whenClosing: [@Sendable (_ done: @escaping @Sendable () -> Void) -> Void] = []
    var ticker: (any DispatchSourceTimer)?
    /// Slots of stages that this node has with others.
    var fleet: FleetSlots?
    let livingNodes = LivingNodes()
    /// Looks after other nodes.
    var takeover: Takeover?
    /// How long the end waits for what does not answer.
    var patienceAtEnd = Duration.seconds(20)
    /// After how long without any movement something at work is stalled.
    var stall: Duration
    /// How many stages run at once.
    nonisolated let slots: StageSlots
    var finished: (@Sendable (RunSummary) -> Void)?
    /// Whether there is something to be stopped, and whether it is being closed.
    var hasStarted = false
    /// Whoever starts it has not done all that belongs to that: it does not end before.
    var isStarting = true
    var isFinishing = false
    private(set) var isStopping = false
    /// Whether all else yields to jobs that may have killed the daemon.
    var isYielding = false
    /// Jobs that may have killed the daemon, in the order in which they run.
    private(set) var quarantine: ArraySlice<(runner: RunnerID, id: JobID)> = []
    /// The one of them that runs.
    private var admitted: (runner: RunnerID, id: JobID)?

    /// How often running stages are told about, from when they have run that long.
    private static let tick = Duration.seconds(2)

    /// How long a stage that was called off may take to notice.
    static let afterGrace = Duration.seconds(5)

    /// An engine for these pipelines; nothing is touched yet.
    package init(
        pipelines: [Pipeline], configuration: EngineConfiguration, observer: @escaping @Sendable (EngineEvent) -> Void
    ) {
        self.pipelines = pipelines
        self.configuration = configuration
        stall = configuration.stall
        slots = StageSlots(configuration.jobsAtOnce)
        self.observer = observer
    }

    /// Takes the locks, makes missing folders, opens the journal, brings it together with the work folders and begins
    /// to watch. `started` is called before it may have ended. `finished` is called once, on a queue of the engine:
    /// with `once` when all is settled, else after `stop`.
    package nonisolated func start(
        started: () -> Void = {}, finished: @escaping @Sendable (RunSummary) -> Void
    ) throws(EngineError) {
        try DescriptorLimit.check(pipelines: pipelines.count)
        let (state, unfinished, holds) = try openState()
        sync { $0.adopt(holds, on: state.shared?.node) }
        var prepared: [Prepared] = []
        do throws(EngineError) {
            reserved.note(state: configuration.state)
            var opened: [String: Opened] = [:]
            try prepare(pipelines, &opened, into: &prepared, with: state, unfinished)
            for own in prepared { reserved.note(own.spool.pipeline, of: own.spool.pipeline.name) }
            try removeLeftovers(of: pipelines, state)
            try passHolds(to: pipelines, state.journal) {
                sync { [prepared] engine in
                    engine.opened = state
                    engine.fleet = state.shared.map { FleetSlots($0) }
                    engine.finished = finished
                    engine.endHolds()
                    engine.keepHours()
                    engine.run(prepared, state)
                }
            }
        } catch {
            for pipeline in prepared { pipeline.release() }
            state.close()
            throw error
        }
        started()
        sync { engine in
            engine.isStarting = false
            engine.finishIfDone()
        }
    }

    /// Stops claiming, lets running stages finish for so long, calls the rest off and then reports `finished`. Asking
    /// again changes nothing.
    package nonisolated func stop(grace: Duration) { enqueue { engine in engine.stopWorking(grace: grace) } }

    /// Frees what is kept for speed alone. Blocks while the journal is written.
    package nonisolated func releaseMemory() { sync { $0.opened }?.journal.releaseMemory() }

    /// Where changes are put on record; nil where the engine does not run.
    package nonisolated var auditTrail: (any AuditTrail)? { sync { $0.opened }?.journal }

    /// The journal, where other nodes share it; nil where the engine does not run.
    package nonisolated var sharedJournal: (any SharedJournal)? { sync { $0.opened }?.shared }

    /// Where messages wait until they are sent; nil where the engine does not run.
    package nonisolated var outbox: (any Outbox)? { sync { $0.opened }?.journal }

    /// What is known of the originals that jobs left in folders; nil where the engine does not run, or where its
    /// journal knows nothing of them.
    package nonisolated var originals: (any FileJournal)? { sync { $0.opened }?.journal as? any FileJournal }

    /// When an earlier run of the daemon was there last; nil where there was none.
    package nonisolated var lastSeen: Timestamp? {
        sync { $0.opened }?.lastRun.map { $0.endedAt ?? $0.startedAt }
    }

    /// Where its journal is, open or not.
    package nonisolated var store: any JournalStore { configuration.journal }

    /// The journal for those who only look; nil before it is started, and afterwards.
    package nonisolated var reading: (any JournalReading)? { sync { $0.opened }?.journal }

    // MARK: Starting

    private func run(_ prepared: [Prepared], _ state: OpenedState) {
        // Where there are none, every watcher says that it polls, and why.
        events = SystemEvents.open()
        for pipeline in prepared {
            let new = pipeline.spool.pipeline
            guard let runner = runner(of: pipeline.spool, nextID(new.name)) else { continue }
            if let lock = pipeline.inboxLock { inboxLocks[new.inbox] = lock }
            runner.found(pipeline)
            runners.append(runner)
        }
        for runner in runners { runner.enterSuspects() }
        hasStarted = true
        if isStopping { return }
        if !quarantine.isEmpty { beginYielding() }
        beginFound()
        watchNodes()
        startTicker()
    }

    /// A runner that has not begun; nil where the engine has ended.
    func runner(of spool: Spool, _ id: RunnerID) -> PipelineRunner? {
        guard let events, let opened else { return nil }
        let mailbox = mailbox
        let intake = Intake(
            spool: spool, events: events, ids: ids, once: configuration.once, judge: configuration.judge,
            slots: slots, node: NodeStanding(opened.shared, among: livingNodes)
        ) { message in
            mailbox.post(.intake(id, message))
        }
        slots.weigh(id.name, spool.pipeline.weight)
        let runner = PipelineRunner(
            id: id, spool: spool, intake: intake, journal: opened.writer, slots: slots, fleet: fleet,
            seen: JournalMemory(opened.journal), observer: observer,
            deliverStage: { mailbox.post(.stage(id, $0)) },
            deliverSettled: { mailbox.post(.settled(id, $0)) },
            quarantine: { [unowned self] job in quarantine.append((id, job)) },
            lately: { [unowned self] change in change(&lately[id.name, default: Lately()]) },
            later: { @Sendable [self] delay, body in after(delay, id, body) })
        known[id] = runner
        loaded.insert(id.name)
        if let hold = holds[id.name] { runner.hold(hold) }
        if isYielding { runner.yield(true) }
        runner.keepHours(at: configuration.now(), tells: false)
        return runner
    }

    /// Runs quarantined jobs one after another; those of before the start alone, as long as all else yields. (Those
    /// that the journal did not know come later, when it is seen that they are whole.)
    func runQuarantined() {
        guard !isStopping else { return }
        while true {
            // It may have passed to the next generation.
            if let admitted, all.contains(where: { $0.machine.isBusy(admitted.id) }) { return }
            admitted = quarantine.popFirst()
            guard let admitted else { break }
            known[admitted.runner]?.send(.admitted(admitted.id))
            known[admitted.runner]?.endTurn()
        }
        endYielding()
        // What goes on by that may be among them.
        if !quarantine.isEmpty { runQuarantined() }
    }

    /// Begins with the pipelines that earlier runs have left something of, or nothing.
    func beginFound() {
        for runner in tails + runners { runner.begin() }
        startIntakes()
    }

    func runner(_ id: RunnerID) -> PipelineRunner? { known[id] }

    /// That of the next runner of this name.
    func nextID(_ name: String) -> RunnerID {
        generations[name, default: 0] += 1
        return RunnerID(name: name, generation: generations[name, default: 0])
    }

    /// A retired runner has ended.
    func forget(_ runner: PipelineRunner) {
        retired.removeAll { $0 === runner }
        known[runner.id] = nil
        if let successor = runner.successor {
            successor.summary.add(runner.summary)
        } else {
            past.add(runner.summary)
        }
    }

    private nonisolated func after(
        _ delay: Duration, _ id: RunnerID, _ body: @escaping @Sendable (PipelineRunner) -> Void
    ) {
        enqueue(after: delay) { engine in
            guard let runner = engine.known[id] else { return }
            body(runner)
            runner.endTurn()
            engine.finishIfDone()
        }
    }

    // MARK: Running

    /// The journal knows nothing any more: all is written down that is not over.
    nonisolated func writeAll() {
        noteHolds()
        enqueue { engine in
            for runner in engine.all { runner.writeAll() }
        }
    }

    /// Other nodes have taken these jobs over.
    nonisolated func drop(_ ids: Set<JobID>) {
        enqueue { engine in
            for runner in engine.all { runner.drop(ids) }
            engine.finishIfDone()
        }
    }

    /// Those of this generation come last: they may be given what earlier ones had.
    var all: [PipelineRunner] { retired + tails + runners }

    private func receive(_ messages: [Message]) {
        for message in messages {
            switch message {
            case .intake(let id, let message): known[id]?.receive(message)
            case .stage(let id, let result): known[id]?.receive(result)
            case .settled(let id, let outcomes): known[id]?.receive(outcomes)
            }
        }
        for runner in all { runner.endTurn() }
        finishIfDone()
    }

    private func startTicker() {
        ticker = executor.queue.every(Self.tick, from: .zero, leeway: .milliseconds(100)) { @Sendable [weak self] in
            self?.assumeIsolated { engine in
                engine.endHolds()
                engine.orderBell?.ring()
                engine.keepHours()
                engine.reportProgress()
                engine.configuration.pulse(engine.presentHealth)
                #if DEBUG
                    engine.blockIfAsked()
                #endif
            }
        }
    }

    private func reportProgress() {
        let now = MonotonicTime.now()
        for runner in all {
            runner.checkMovement(at: now, limit: stall)
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
        takeover?.stop()
        // Asked for before there is anything to stop: `start` ends at once then.
        guard hasStarted else { return }
        for runner in all { runner.stop() }
        observer(.stopping(running: all.reduce(0) { $0 + $1.machine.busyCount }, grace: grace))
        finishIfDone()
        // Nothing of it stays until then if all is quiet earlier.
        executor.queue.after(grace) { @Sendable [weak self] in
            self?.assumeIsolated { for runner in $0.all { runner.workers.forEach { $0.cancel() } } }
        }
        // A stage that does not look up is left behind; its job is found again at the next start.
        executor.queue.after(grace + Self.afterGrace) { @Sendable [weak self] in
            self?.assumeIsolated { $0.finish() }
        }
    }
}
