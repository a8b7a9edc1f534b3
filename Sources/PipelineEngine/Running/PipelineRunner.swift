@preconcurrency import Dispatch
import Journal
import PipelineKit

/// Performs what the machine of one pipeline says, and reports to the machine what came of it. It decides nothing.
/// The engine's own.
final class PipelineRunner {
    /// Schedules the body on the engine's queue.
    typealias Later = @Sendable (Duration, @escaping @Sendable (PipelineRunner) -> Void) -> Void

    let pipeline: Pipeline
    let observer: @Sendable (EngineEvent) -> Void
    let intake: Intake
    let workers: [StageWorkers]
    let journal: JournalWriter
    let settler: Settler
    let later: Later
    /// Asks the engine to admit the job when it may run alone.
    private let quarantine: (JobID) -> Void

    private(set) var machine: JobMachine
    /// What happened and was not given to the machine yet.
    private var events: [JobMachine.Event] = []
    /// What is known of the jobs besides where they are.
    var jobs: [JobID: ActiveJob] = [:]
    var summary = RunSummary()
    /// What the intake said last of the drops that stay, with `once`; nil while it is at work.
    var remaining: [Intake.Left]?
    /// Jobs of earlier runs that are left as they are.
    var parked = 0
    /// How many drops wait in the inbox, as far as was reported.
    var waiting = 0
    /// Whether a look at what the workers are at is to come.
    var isLookDue = false
    /// Where its work folder is, and was.
    var works: [WorkPlace] = []
    /// When the trouble began that the machine knows by the monotonic clock.
    var pausedAt: (since: MonotonicTime, time: Timestamp)?
    var lastNote: PipelineRecord?
    /// What jobs leave free that are over.
    private var released: [Int64] = []

    init(
        spool: Spool, intake: Intake, journal: JournalWriter, seen: any SeenContent,
        observer: @escaping @Sendable (EngineEvent) -> Void,
        deliverStage: @escaping @Sendable (StageWorkers.Result) -> Void,
        deliverSettled: @escaping @Sendable ([Settler.Outcome]) -> Void,
        quarantine: @escaping (JobID) -> Void, later: @escaping Later
    ) {
        let pipeline = spool.pipeline
        self.pipeline = pipeline
        self.intake = intake
        self.journal = journal
        self.observer = observer
        self.quarantine = quarantine
        self.later = later
        machine = JobMachine(.init(of: pipeline))
        let space = FreeSpace(of: [spool.work.path], floor: pipeline.minFree)
        workers = pipeline.allStages.map {
            StageWorkers(
                entry: $0, pipeline: pipeline.name, durability: pipeline.durability,
                isShared: pipeline.ownership == .keep, space: space, seen: seen, deliver: deliverStage)
        }
        let warn = { @Sendable (message: String) in observer(.warning(pipeline: pipeline.name, message: message)) }
        settler = Settler(spool: spool, journal: journal, warn: warn, deliver: deliverSettled)
    }

    /// Something happened: the machine is told at the end of the turn.
    func send(_ event: JobMachine.Event) { events.append(event) }

    /// Ends a turn of the engine: everything that happened in it is one call of the machine, and so is what comes at
    /// once of what the machine says.
    func endTurn() {
        while !events.isEmpty {
            let batch = events
            events = []
            for effect in machine.apply(batch, at: .now()) { perform(effect) }
        }
        guard !released.isEmpty else { return }
        intake.release(released)
        released = []
    }

    private func perform(_ effect: JobMachine.Effect) {
        switch effect {
        case .run(let id, let stage, let isCommitted): run(id, stage: stage, isCommitted: isCommitted)
        case .write(let id): write(id)
        case .look(let id): look(id)
        case .notify(let id, let failure, let index): notify(id, of: failure, index: index)
        case .count(let id): count(id)
        case .settle(let id, let outcome):
            noteProgress(of: id)
            if let settlement = jobs[id]?.settlement(outcome) { settler.settle(settlement) }
        case .defer(let id, let failure, let delay): `defer`(id, because: failure, for: delay)
        case .wait(let id, let delay): later(delay) { runner in runner.send(.due(id)) }
        case .release(let id, let outcome, let recoveries): release(id, outcome, recoveries: recoveries)
        case .forget(let id): forget(id)
        case .quarantine(let id): quarantine(id)
        case .withdraw: send(.withdrawn(workers.flatMap { $0.withdraw() }.map(\.job.id)))
        case .pause(let failure, let isNews):
            intake.pause(because: failure)
            note()
            if isNews { observer(.paused(pipeline: pipeline.name, failure)) }
        case .resume: intake.resume()
        case .recovered(let time):
            note()
            observer(.resumed(pipeline: pipeline.name, after: time))
        case .probe(let delay): later(delay) { runner in runner.send(.probe) }
        case .checkFolders:
            ask({ $0.isInPlace }, then: { runner, isInPlace in runner.send(.probed(isInPlace: isInPlace)) })
        case .askIntake: intake.probe()
        case .trial(let time, let since): later(time) { runner in runner.send(.trialEnded(since: since)) }
        case .unexpected(let event): warn("'\(event)' cannot happen where the job is; please report this bug")
        }
    }

    private func release(_ id: JobID, _ outcome: JobState.Outcome, recoveries: Int) {
        guard var active = jobs.removeValue(forKey: id) else { return }
        if active.record.recoveries != recoveries {
            active.record.recoveries = recoveries
            journal.note(active.record)
        }
        switch outcome {
        case .processed: summary.processed += 1
        case .failed: summary.failed += 1
        }
        released.append(active.job.drop.size)
        observer(.settled(active.report(outcome)))
    }

    private func forget(_ id: JobID) {
        guard let active = jobs.removeValue(forKey: id) else { return }
        lose(active.job, active.record, because: "its folder is gone from the work folder")
        released.append(active.job.drop.size)
    }

    // MARK: Stopping

    /// Begins nothing more. What runs goes on, what is finished is settled.
    func stop() {
        intake.stopClaiming()
        send(.stopped)
        send(.withdrawn(workers.flatMap { $0.stop() }.map(\.job.id)))
        endTurn()
    }

    /// Whether nothing more will come, with `once`: a run that is to end does not wait for ever for its surroundings.
    var isDone: Bool {
        machine.pause.isPaused ? machine.isQuiet && machine.pause.isStubborn : remaining != nil && machine.jobs.isEmpty
    }
}

extension JobMachine.Rules {
    fileprivate init(of pipeline: Pipeline) {
        self.init(
            retry: pipeline.stages.map { $0.retry ?? pipeline.retry }, notifications: pipeline.onFailure.count,
            quarantineAfter: Recovery.quarantineLimit(in: pipeline))
    }
}
