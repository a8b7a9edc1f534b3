@preconcurrency import Dispatch
import Journal
import PipelineKit
import SystemPackage

/// Takes the jobs of one pipeline from stage to stage. It decides nothing itself: `JobState` says what follows, and
/// this does it and has it written down. All of it lives on the engine's queue.
// @unchecked: every `var` below is touched on the engine's queue only.
final class PipelineRunner: @unchecked Sendable {
    let pipeline: Pipeline
    let observer: @Sendable (EngineEvent) -> Void
    let intake: Intake
    let workers: [StageWorkers]
    let journal: JournalWriter
    private let settler: Settler
    /// Has a job do something when no other job under suspicion is at work.
    private let suspect: (JobID, JobState.Action) -> Void
    /// Calls the body on the engine's queue after a while.
    let later: @Sendable (Duration, @escaping @Sendable (PipelineRunner) -> Void) -> Void

    var jobs: [JobID: ActiveJob] = [:]
    /// With workers, the settler, or the journal.
    var busy: Set<JobID> = []
    /// Ready to go on, but held by a pause or a stop.
    var held: [JobID] = []
    var pause = PauseState()
    var isStopping = false
    var summary = RunSummary()
    /// What the intake said last of the drops that stay, with `once`; nil while it is at work.
    var remaining: [Intake.Left]?
    /// Jobs of earlier runs that are left as they are.
    var parked = 0
    /// How many drops wait in the inbox, as far as was told.
    var waiting = 0
    /// Whether a look at what the workers are at is to come.
    var isLookDue = false
    /// Where its work folder is, and was.
    var works: [WorkPlace] = []
    private var lastNote: PipelineRecord?

    init(
        spool: Spool, intake: Intake, journal: JournalWriter, seen: any SeenContent,
        observer: @escaping @Sendable (EngineEvent) -> Void,
        deliverStage: @escaping @Sendable (StageWorkers.Result) -> Void,
        deliverSettled: @escaping @Sendable ([Settler.Outcome]) -> Void,
        suspect: @escaping (JobID, JobState.Action) -> Void,
        later: @escaping @Sendable (Duration, @escaping @Sendable (PipelineRunner) -> Void) -> Void
    ) {
        pipeline = spool.pipeline
        self.intake = intake
        self.journal = journal
        self.observer = observer
        self.suspect = suspect
        self.later = later
        let name = spool.pipeline.name
        let space = FreeSpace(of: [spool.work.path], floor: spool.pipeline.minFree)
        workers = spool.pipeline.allStages.map {
            StageWorkers(
                entry: $0, pipeline: name, durability: spool.pipeline.durability,
                isShared: spool.pipeline.ownership == .keep, space: space, seen: seen,
                deliver: deliverStage)
        }
        let warn = { @Sendable (message: String) in observer(.warning(pipeline: name, message: message)) }
        settler = Settler(spool: spool, journal: journal, warn: warn, deliver: deliverSettled)
    }

    // MARK: What comes in

    func take(_ message: Intake.Message) {
        switch message {
        case .claimed(let claimed, let adopted):
            remaining = nil
            if !adopted { endTrial() }
            for claim in claimed { begin(claim, adopted: adopted) }
        case .lost(let job): lose(job)
        case .keptAside(let path):
            observer(
                .warning(
                    pipeline: pipeline.name,
                    message: "'\(path.text)' holds what a claim brought and is no drop; see whether you need it, and "
                        + "remove it"))
        case .workRemade:
            loseWhatIsGone()
            observer(
                .warning(
                    pipeline: pipeline.name,
                    message: "the work folder '\(intake.spool.work.path.text)' was gone, and is made again"))
            lookForLost()
        case .stillWritten(let job, let reason): observer(.stillWritten(job, reason: reason))
        case .refused(let path, let reason): observer(.refused(pipeline: pipeline.name, path: path, reason: reason))
        case .heldOpen(let path, let writer, let time):
            observer(
                .warning(
                    pipeline: pipeline.name,
                    message: "'\(path)' has been held open for \(time.text) by \(writer.fullText), and is not taken "
                        + "before that ends; set `ready.timeout` to have such drops fail"))
        case .watching(let mode, let reason):
            if let reason { observer(.watching(pipeline: pipeline.name, mode, reason: reason)) }
        case .failed(let failure): intakeFailed(failure)
        case .recovered: intakeRecovered()
        case .waiting(let count):
            waiting = count
            note()
        case .idle(let left): remaining = left
        case .sight(let means): observer(.writers(pipeline: pipeline.name, means, quiet: pipeline.ready.blindQuiet))
        }
    }

    private func begin(_ claim: Spool.Claimed, adopted: Bool) {
        let job = claim.job
        observer(.claimed(job, adopted: adopted))
        var record = JobRecord(claimed: job, identity: claim.identity, definition: pipeline.definition)
        record.history.append(Transition(adopted ? "recovered" : "claimed", at: .now()))
        if adopted { record.recoveries = 1 }
        var (state, action) = JobState.claimed(rules(stage: 0))
        let empty: StageFailure? = job.drop.size == 0 && pipeline.ready.empty == .fail ? .empty(job.drop.name) : nil
        if let failure = claim.failure ?? empty {
            (state, action) = (.settling(.failed(failure)), .settle(.failed(failure)))
        }
        var active = ActiveJob(job, state: state, record: record)
        active.seal = claim.seal
        active.isResumed = adopted
        enter(active)
        if Recovery.isSuspect(record.recoveries, in: pipeline) {
            suspect(job.id, action)
        } else {
            perform(action, job.id)
        }
    }

    /// A job of an earlier run that the journal knows.
    func resume(_ resumed: Recovery.Resumed) {
        let record = resumed.record
        observer(.claimed(resumed.job, adopted: true))
        switch resumed.resumption {
        case .settle(let outcome):
            var active = ActiveJob(resumed.job, state: .settling(outcome), record: record)
            active.isResumed = true
            jobs[record.id] = active
            perform(.settle(outcome), record.id)
        case .run:
            var active = ActiveJob(resumed.job, state: .settling(.processed), record: record)
            active.seal = resumed.seal
            active.isResumed = true
            guard record.stage < pipeline.stages.count else {
                enter(active)
                return perform(.settle(.processed), record.id)
            }
            if record.state == .deferred, let failure = record.failure {
                active.state = .deferred(stage: record.stage, failures: record.failures, failure)
                enter(active)
                // Wall clocks jump: never longer than the longest wait there is.
                let rest = record.nextAttempt.map { $0 - .now() } ?? .zero
                let longest = policy(stage: record.stage).maxBackoff
                return later(min(max(rest, .zero), longest)) { runner in runner.apply([.due], to: record.id) }
            }
            active.state = .queued(stage: record.stage, failures: record.failures)
            enter(active)
            perform(.run(stage: record.stage), record.id)
        }
    }

    private func enter(_ job: ActiveJob) {
        jobs[job.job.id] = job
        write(job.job.id)
    }

    func take(_ result: StageWorkers.Result) {
        let id = result.work.job.id
        began(result.work)
        if case .failure = result.result, result.work.failed == nil, jobs[id] != nil {
            return look(for: [id]) { runner, gone in
                guard let gone else { return runner.take(result.ofWorkAway(runner.intake.spool), isGone: false) }
                runner.take(result, isGone: !gone.isEmpty)
            }
        }
        take(result, isGone: false)
    }

    private func take(_ result: StageWorkers.Result, isGone: Bool) {
        let id = result.work.job.id
        busy.remove(id)
        guard let job = jobs[id]?.job else { return }
        let kind = pipeline.allStages[result.work.stage].kind
        for warning in result.notes.warnings { observer(.warning(pipeline: pipeline.name, message: warning)) }
        if result.work.failed != nil { return told(id, kind, result) }
        if result.hasRun { jobs[id]?.mayBeIntended = false }
        switch result.result {
        case .success(let payload):
            jobs[id]?.did(kind, in: result.duration, giving: payload, saying: result.notes.text)
            observer(.stageFinished(job, stage: kind, duration: result.duration))
            apply([payload.isDone ? .completed : .succeeded], to: id)
        case .failure where isGone: lose(id)
        case .failure(let failure):
            if result.hasRun { jobs[id]?.failed(kind, in: result.duration, because: failure) }
            apply([.failed(failure)], to: id)
        }
    }

    func take(_ outcomes: [Settler.Outcome]) {
        let failed = outcomes.filter { if case .settled = $0.result { false } else { true } }
        take(outcomes.filter { if case .settled = $0.result { true } else { false } }, gone: [])
        guard !failed.isEmpty else { return }
        look(for: failed.map(\.settlement.job.id)) { runner, gone in
            guard let gone else {
                return runner.take(failed.map { ($0.settlement, .failed(.workAway(runner.intake.spool))) }, gone: [])
            }
            runner.take(failed, gone: Set(gone))
        }
    }

    private func take(_ outcomes: [Settler.Outcome], gone: Set<JobID>) {
        var released: [Int64] = []
        for (settlement, result) in outcomes {
            let id = settlement.job.id
            busy.remove(id)
            jobs[id]?.record = settlement.record
            jobs[id]?.seal = settlement.seal
            let wasCounted = jobs[id]?.survivedSettlement() ?? false
            switch result {
            case .settled:
                if wasCounted, let record = jobs[id]?.record { journal.note(record) }
                report(id, settlement)
                apply([.settled], to: id)
                released.append(settlement.job.drop.size)
            case .failed where gone.contains(id), .outputsLost where gone.contains(id): lose(id)
            case .failed(let failure):
                // What was decided for success says nothing of a failure.
                if failure.class == .file { jobs[id]?.record.intents = [] }
                apply([.failed(failure)], to: id)
            case .outputsLost(let failure):
                jobs[id]?.record.lostOutputs(because: failure, at: .now())
                apply([.outputsLost(failure)], to: id)
            }
        }
        if !released.isEmpty { intake.release(released) }
    }

    private func report(_ id: JobID, _ settlement: Settlement) {
        guard let active = jobs[id] else { return }
        switch settlement.outcome {
        case .processed: summary.processed += 1
        case .failed: summary.failed += 1
        }
        observer(
            .settled(
                JobReport(
                    job: active.job, outcome: settlement.outcome, original: settlement.record.original,
                    outputs: settlement.record.outputs, duration: MonotonicTime.now() - active.begun,
                    stages: active.times)))
    }

    // MARK: What is written down

    /// Has the journal know of the job's state, soon.
    func write(_ id: JobID) {
        jobs[id]?.writeState(stages: pipeline.stages.count)
        guard let record = jobs[id]?.record else { return }
        journal.note(record)
    }

    /// Has the journal know of the pipeline's state, if it changed.
    func note() {
        let since = pause.reason == nil ? nil : pause.pausedAt
        var record = pipeline.record(at: lastNote?.updatedAt ?? .now())
        (record.waiting, record.paused, record.pausedSince) = (waiting, pause.reason, since)
        record.works = works
        guard record != lastNote else { return }
        record.updatedAt = .now()
        lastNote = record
        journal.note(record)
    }

    /// Has the journal know of everything that is not over.
    func writeAll() {
        lookAtWorkers()
        lastNote = nil
        note()
        for id in jobs.keys { write(id) }
    }

    // MARK: Stopping

    /// Begins nothing more. What runs goes on, what is finished is settled.
    func stop() {
        isStopping = true
        for stage in workers {
            for work in stage.stop() { busy.remove(work.job.id) }
        }
    }

    /// Whether nothing is with a worker, the settler or the journal.
    var isQuiet: Bool { busy.isEmpty }

    /// Whether nothing more will come, with `once`: a run that is to end does not wait for ever for its surroundings.
    var isDone: Bool { pause.isPaused ? isQuiet && pause.isStubborn : remaining != nil && jobs.isEmpty }

    func settle(_ settlement: Settlement) { settler.settle(settlement) }
}

extension Pipeline {
    /// What the journal is to know of it, while nothing waits and nothing is wrong.
    func record(at time: Timestamp) -> PipelineRecord {
        PipelineRecord(
            name: name, source: source.absolute, inbox: inbox, failed: failed, stages: stages.map(\.kind), waiting: 0,
            updatedAt: time)
    }

    /// The same with the places of its work folder; nil where the journal knows these.
    func record(works: [WorkPlace], after before: PipelineRecord?) -> PipelineRecord? {
        guard before?.works != works else { return nil }
        var record = record(at: .now())
        record.works = works
        return record
    }
}
