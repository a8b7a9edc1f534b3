@preconcurrency import Dispatch
import Files
import Journal
import PipelineKit

/// Carries out the effects of one pipeline's machine and reports the results to it. It decides nothing.
/// The engine's own.
final class PipelineRunner {
    /// Schedules the body on the engine's queue.
    typealias Later = @Sendable (Duration, @escaping @Sendable (PipelineRunner) -> Void) -> Void

    /// Which one it is: a changed pipeline gets another.
    let id: RunnerID
    let pipeline: Pipeline
    let observer: @Sendable (EngineEvent) -> Void
    let intake: Intake
    let workers: [StageWorkers]
    let journal: JournalWriter
    let settler: Settler
    let later: Later
    /// Its stages, each as the n-th of its kind.
    let places: [Lately.Place]
    /// Changes what is told of the last hour.
    let slots: StageSlots
    /// Slots that it has with other nodes; nil where there are none.
    let fleet: FleetSlots?
    let lately: (_ change: (inout Lately) -> Void) -> Void
    /// Asks the engine to admit the job when it may run alone.
    private let quarantine: (JobID) -> Void

    private(set) var machine: JobMachine
    /// Events not yet passed to the machine.
    private var events: [JobMachine.Event] = []
    /// What is known about the jobs besides their state.
    var jobs: [JobID: ActiveJob] = [:]
    var summary = RunSummary()
    /// With `once`: the drops that the intake last reported as staying; nil while it is busy.
    var remaining: [Intake.Left]?
    /// Jobs of earlier runs that are left alone.
    var parked = 0
    /// How many drops wait in the inbox, as last reported.
    var waiting = 0
    /// Whether anything moves, and how many events there were.
    var movement = StallDetector()
    private(set) var moves: Int64 = 0
    /// Whether a check of the workers is scheduled.
    var isLookDue = false
    /// Where its work folder is, and was.
    var works: [WorkPlace] = []
    /// When its folders were last seen to be away, by a job or by the intake, and what was said of that.
    var lastAway: (time: MonotonicTime, reason: Failure)?
    /// When the machine's current problem began, by both clocks.
    var pausedAt: (since: MonotonicTime, time: Timestamp)?
    var lastNote: PipelineRecord?
    /// What a person holds it by.
    private(set) var hold: HoldRecord?
    /// Whether only a job that runs alone may go on.
    private(set) var isYielding = false
    /// Jobs that are to be settled together.
    private var finished: [Settlement] = []
    /// Sizes that finished jobs have released.
    private var released: [Job] = []
    /// What its jobs go to, once it is retired; nil where the pipeline was removed.
    var successor: PipelineRunner?
    /// What earlier runs left, until it begins with that.
    var found: Recovery.Findings?
    /// How many jobs that were.
    var foundCount = 0
    /// Those of them that the journal does not know, until the intake begins with them.
    var adopted: [Job] = []
    /// That it is outside its hours, and for which times that was found out.
    var outside: OutsideHours?
    var hoursChecked: Range<Timestamp>?
    /// Whether the intake watches, or did.
    var hasIntakeBegun = false
    /// What the intake left that it had claimed; nil until it has ended.
    var left: [Job]?

    init(
        id: RunnerID, spool: Spool, intake: Intake, journal: JournalWriter, slots: StageSlots,
        fleet: FleetSlots?, seen: any SeenContent, observer: @escaping @Sendable (EngineEvent) -> Void,
        deliverStage: @escaping @Sendable (StageWorkers.Result) -> Void,
        deliverSettled: @escaping @Sendable ([Settler.Outcome]) -> Void,
        quarantine: @escaping (JobID) -> Void, lately: @escaping (_ change: (inout Lately) -> Void) -> Void,
        later: @escaping Later
    ) {
        let pipeline = spool.pipeline
        self.id = id
        self.pipeline = pipeline
        self.intake = intake
        self.journal = journal
        self.observer = observer
        self.quarantine = quarantine
        (self.slots, self.fleet) = (slots, fleet)
        self.lately = lately
        places = pipeline.stagePlaces
        self.later = later
        machine = JobMachine(.init(of: pipeline))
        let space = FreeSpace(of: [spool.work.path], floor: pipeline.minFree)
        let kinds = pipeline.allStages.map(\.kind)
        workers = zip(pipeline.allStages, SlotPlace.places(of: kinds, in: pipeline.name)).map {
            StageWorkers(
                entry: $0, pipeline: pipeline.name, durability: pipeline.durability,
                isShared: pipeline.ownership == .keep, turns: SharedWork(of: pipeline), slots: slots, fleet: fleet,
                as: $1, space: space, seen: seen, deliver: deliverStage)
        }
        let warn = { @Sendable (message: String) in observer(.warning(pipeline: pipeline.name, message: message)) }
        settler = Settler(spool: spool, journal: journal, warn: warn, deliver: deliverSettled)
    }

    /// Takes from the machine, and from here, what nothing is under way for.
    func handOverIdle() -> [(ActiveJob, JobMachine.Entry)] {
        for id in jobs.keys { noteProgress(of: id) }
        return machine.handOver().compactMap { id, entry in jobs.removeValue(forKey: id).map { ($0, entry) } }
    }

    /// Queues an event for the machine until the end of the turn.
    func send(_ event: JobMachine.Event) {
        events.append(event)
        moves &+= 1
    }

    /// Ends a turn of the engine: all its events go to the machine in one call, and so does what follows at
    /// once from its effects.
    func endTurn() {
        while !events.isEmpty {
            let batch = events
            events = []
            for effect in machine.apply(batch, at: .now()) { perform(effect) }
        }
        if !finished.isEmpty {
            settler.settle(finished)
            finished = []
        }
        if !released.isEmpty {
            last.intake.release(released)
            released = []
        }
        handOver()
    }

    private func perform(_ effect: JobMachine.Effect) {
        switch effect {
        case .run(let id, let stage, let isCommitted): run(id, stage: stage, isCommitted: isCommitted)
        case .write(let id): write(id)
        case .look(let id): look(id)
        case .notify(let id, let failure, let index): notify(id, of: failure, index: index)
        case .skipNotification(let id):
            warn("job \(id): 'on_failure' is skipped, because the daemon stopped repeatedly before this job was over")
        case .count(let id): count(id)
        case .settle(let id, let outcome):
            noteProgress(of: id)
            if let settlement = jobs[id]?.settlement(outcome) { finished.append(settlement) }
        case .defer(let id, let failure, let delay): `defer`(id, because: failure, for: delay)
        case .callOff(let id):
            if workers.contains(where: { $0.callOff(id) }) { send(.withdrawn([id])) }
        case .wait(let id, let delay): later(delay) { runner in runner.send(.due(id)) }
        case .release(let id, let outcome, let recoveries): release(id, outcome, recoveries: recoveries)
        case .forget(let id): forget(id)
        case .drop(let id): drop(id)
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
        case .unexpected(let event): warn("unexpected event '\(event)' for the job's state; please report this bug")
        }
    }

    private func release(_ id: JobID, _ outcome: JobState.Outcome, recoveries: Int) {
        guard var active = jobs.removeValue(forKey: id) else { return }
        if active.record.recoveries != recoveries {
            active.record.recoveries = recoveries
            journal.note(active.record)
        }
        let report = active.report(outcome)
        if outcome == .processed { summary.processed += 1 } else if report.hasFailed { summary.failed += 1 }
        released.append(active.job)
        let place = active.failedPlace.flatMap { places.indices.contains($0) ? places[$0] : nil }
        let isShared = pipeline.fair != nil
        lately {
            $0.end(active.record, at: place?.kind == active.record.failedStage ? place : nil, isShared: isShared)
        }
        observer(.settled(report))
    }

    private func forget(_ id: JobID) {
        guard let active = jobs.removeValue(forKey: id) else { return }
        lose(active.job, active.record, because: "its folder is gone from the work folder")
        released.append(active.job)
    }

    /// Its folder and what is on record of it are another node's.
    private func drop(_ id: JobID) {
        for stage in workers { stage.drop(id) }
        guard let active = jobs.removeValue(forKey: id) else { return }
        released.append(active.job)
    }

    /// Nothing is claimed while a person holds it, and no stage begins while that is a pause. `done` is called, on a
    /// queue of its own, when the intake knows.
    func hold(_ hold: HoldRecord?, done: @escaping @Sendable () -> Void = {}) {
        self.hold = hold
        intake.lane?.hold(mayNotBegin)
        intake.hold(hold) { @Sendable [lane = intake.lane] in
            if let lane { lane.afterBatch(done) } else { done() }
        }
        send(.held(isHeld))
    }

    /// Nothing is claimed and nothing of a job goes on, but for the one that runs alone; or that is over.
    func yield(_ isYielding: Bool) {
        self.isYielding = isYielding
        intake.lane?.hold(mayNotBegin)
        intake.yield(isYielding)
        send(.yielding(isYielding))
    }

    // MARK: Stopping

    /// Starts nothing more. What runs continues, what is finished is settled.
    func stop() {
        intake.stopClaiming()
        send(.stopped)
        send(.withdrawn(workers.flatMap { $0.stop() }.map(\.job.id)))
        endTurn()
    }

    /// How many jobs are not over, as far as they are known.
    var unfinished: Int {
        machine.jobs.count + parked + adopted.count + (found.map { $0.resumed.count + $0.adopted.count } ?? 0)
    }

    /// Whether it would begin with another job now.
    var mayBegin: Bool { !machine.pause.isPaused && !mayNotBegin && hold == nil && outside == nil }

    /// Whether only timers can bring more: nothing is at work.
    var isQuiet: Bool { machine.isQuiet && intake.lane?.isIdle ?? true }

    /// Where stages made what jobs go on from that are left; nil where there are none.
    var results: FileSystemSync? {
        jobs.values.contains { $0.record.payload != nil } ? intake.spool.work.whole : nil
    }

    /// Whether `once` is done: such a run does not wait forever for its surroundings.
    var isDone: Bool {
        if machine.isHeld { return machine.isQuiet }
        if machine.pause.isPaused { return machine.isQuiet && machine.pause.isStubborn }
        return remaining != nil && machine.jobs.isEmpty
    }
}

extension JobMachine.Rules {
    fileprivate init(of pipeline: Pipeline) {
        self.init(
            retry: pipeline.stages.map { $0.retry ?? pipeline.retry }, notifications: pipeline.onFailure.count,
            quarantineAfter: Recovery.quarantineLimit(in: pipeline))
    }
}
