@preconcurrency import Dispatch
import PipelineKit
import SystemPackage

/// Takes the jobs of one pipeline from stage to stage. It decides nothing itself: `JobState` says what follows, and
/// this does it. All of it lives on the engine's queue.
final class PipelineRunner: @unchecked Sendable {
    // @unchecked: every `var` below is touched on the engine's queue only.

    let pipeline: Pipeline
    let observer: @Sendable (EngineEvent) -> Void
    let intake: Intake
    let workers: [StageWorkers]
    private let settler: Settler
    /// Calls the body on the engine's queue after a while.
    let later: @Sendable (Duration, @escaping @Sendable (PipelineRunner) -> Void) -> Void

    var jobs: [JobID: ActiveJob] = [:]
    /// With workers or the settler.
    var busy: Set<JobID> = []
    /// Ready to go on, but held by a pause or a stop.
    var held: [JobID] = []
    var pause = PauseState()
    var isStopping = false
    var summary = RunSummary()
    /// What the intake said last of the drops that stay, with `once`; nil while it is at work.
    var remaining: [FileName]?

    init(
        spool: Spool, intake: Intake, observer: @escaping @Sendable (EngineEvent) -> Void,
        deliverStage: @escaping @Sendable (StageWorkers.Result) -> Void,
        deliverSettled: @escaping @Sendable ([Settler.Outcome]) -> Void,
        later: @escaping @Sendable (Duration, @escaping @Sendable (PipelineRunner) -> Void) -> Void
    ) {
        pipeline = spool.pipeline
        self.intake = intake
        self.observer = observer
        self.later = later
        let name = spool.pipeline.name
        workers = spool.pipeline.stages.map { StageWorkers(entry: $0, pipeline: name, deliver: deliverStage) }
        settler = Settler(spool: spool, deliver: deliverSettled)
    }

    // MARK: What comes in

    func take(_ message: Intake.Message) {
        switch message {
        case .claimed(let jobs, let adopted):
            remaining = nil
            for job in jobs { begin(job, adopted: adopted) }
        case .draining(let job, let reason): observer(.draining(job, reason: reason))
        case .refused(let name, let reason): observer(.refused(pipeline: pipeline.name, name: name, reason: reason))
        case .watching(let mode, let reason):
            if let reason { observer(.watching(pipeline: pipeline.name, mode, reason: reason)) }
        case .failed(let failure): stopWorking(because: failure)
        case .idle(let names): remaining = names
        }
    }

    private func begin(_ job: Job, adopted: Bool) {
        observer(.claimed(job, adopted: adopted))
        let (state, action) = JobState.claimed(rules(stage: 0))
        if job.drop.size == 0, pipeline.ready.empty == .fail {
            let failure = StageFailure.file(
                "drop.empty", "'\(job.drop.name)' is empty (0 bytes).", remedy: "Drop it again with its content.")
            jobs[job.id] = ActiveJob(job, state: .settling(.failed(failure)))
            return perform(.settle(.failed(failure)), job.id)
        }
        jobs[job.id] = ActiveJob(job, state: state)
        perform(action, job.id)
    }

    func take(_ result: StageWorkers.Result) {
        let id = result.work.job.id
        busy.remove(id)
        guard var active = jobs[id] else { return }
        let kind = pipeline.stages[result.work.stage].kind
        active.ran(kind, for: result.duration)
        switch result.result {
        case .success(let payload):
            active.payload = payload
            jobs[id] = active
            observer(.stageFinished(active.job, stage: kind, duration: result.duration))
            apply([.started, .succeeded], to: id)
        case .failure(let failure):
            jobs[id] = active
            apply([.started, .failed(failure)], to: id)
        }
    }

    func take(_ outcomes: [Settler.Outcome]) {
        var released = 0
        for (settlement, result) in outcomes {
            let id = settlement.job.id
            busy.remove(id)
            switch result {
            case .settled(let outputs, let original):
                report(id, settlement.outcome, outputs, original)
                apply([.settled], to: id)
                released += 1
            case .failed(let failure, let progress):
                jobs[id]?.progress = progress
                apply([.failed(failure)], to: id)
            case .outputsLost(let failure):
                jobs[id]?.payload = Payload(dropOf: settlement.job)
                apply([.outputsLost(failure)], to: id)
            }
        }
        if released > 0 { intake.release(released) }
    }

    private func report(_ id: JobID, _ outcome: JobState.Outcome, _ outputs: [FilePath], _ original: FilePath?) {
        guard let active = jobs[id] else { return }
        switch outcome {
        case .processed: summary.processed += 1
        case .failed: summary.failed += 1
        }
        observer(
            .settled(
                JobReport(
                    job: active.job, outcome: outcome, original: original, outputs: outputs,
                    duration: MonotonicTime.now() - active.begun, stages: active.times)))
    }

    // MARK: What follows

    /// Brings the events to the job's state, and does what it says.
    func apply(_ events: [JobState.Event], to id: JobID) {
        for event in events {
            guard let active = jobs[id] else { return }
            guard let (state, action) = active.state.next(event, rules(stage: active.state.stage)) else {
                observer(
                    .warning(
                        pipeline: pipeline.name,
                        message:
                            "job \(id): \(event) cannot happen in state \(active.state); this is a bug, please "
                            + "report it"
                    ))
                return
            }
            jobs[id]?.state = state
            if pause.probing == id {
                switch action {
                case .pause, .none: break
                default: goOn()
                }
            }
            perform(action, id)
        }
    }

    func perform(_ action: JobState.Action, _ id: JobID) {
        switch action {
        case .none: break
        case .run(let stage): run(id, stage: stage)
        case .settle(let outcome): settle(id, outcome)
        case .wait(let delay): wait(id, delay)
        case .pause(let failure):
            held.append(id)
            stopWorking(because: failure)
        case .park: held.append(id)
        case .release: jobs[id] = nil
        }
    }

    private func run(_ id: JobID, stage: Int) {
        guard let active = jobs[id] else { return }
        let entry = pipeline.stages[stage]
        guard entry.applies(to: active.job.drop.name) else { return apply([.started, .succeeded], to: id) }
        guard mayWork(id) else { return held.append(id) }
        busy.insert(id)
        observer(.stageStarted(active.job, stage: entry.kind))
        workers[stage].submit(StageWorkers.Work(job: active.job, payload: active.payload, stage: stage))
    }

    private func settle(_ id: JobID, _ outcome: JobState.Outcome) {
        guard let active = jobs[id] else { return }
        // What is finished is settled also while the engine stops: it is quick, and then it is done.
        guard pause.isPaused ? pause.probing == id : true else { return held.append(id) }
        busy.insert(id)
        settler.settle(active.settlement(outcome))
    }

    private func wait(_ id: JobID, _ delay: Duration) {
        guard let active = jobs[id] else { return }
        if case .deferred(_, _, let failure) = active.state {
            observer(.deferred(active.job, stage: active.stage ?? "", failure: failure, delay: delay))
        }
        later(delay) { runner in runner.apply([.due], to: id) }
    }

    private func mayWork(_ id: JobID) -> Bool { !isStopping && (!pause.isPaused || pause.probing == id) }

    private func rules(stage: Int?) -> JobState.Rules {
        JobState.Rules(stages: pipeline.stages.count, retry: pipeline.retry, jitter: .random(in: 0...1))
    }

    // MARK: Stopping

    /// Begins nothing more. What runs goes on, what is finished is settled.
    func stop() {
        isStopping = true
        for stage in workers {
            for work in stage.stop() { busy.remove(work.job.id) }
        }
    }

    /// Whether nothing is with a worker or the settler.
    var isQuiet: Bool { busy.isEmpty }

    /// Whether nothing more will come, with `once`: a run that is to end does not wait for ever for its surroundings.
    var isDone: Bool { pause.isPaused ? isQuiet && pause.isStubborn : remaining != nil && jobs.isEmpty }
}
