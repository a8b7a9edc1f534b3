import Files
import Journal
import PipelineKit
import SystemPackage

/// What comes in: each message is what happened to jobs, and becomes events.
extension PipelineRunner {
    func receive(_ message: Intake.Message) {
        switch message {
        case .claimed(let claimed, let adopted):
            remaining = nil
            if !adopted { send(.claimed) }
            for claim in claimed { enter(claim, adopted: adopted) }
        case .ran(let active):
            intake.lane?.heard()
            guard !active.isEmpty else { return }
            remaining = nil
            send(.claimed)
            for job in active { enter(job) }
        case .lost(let job): lose(job)
        case .keptAside(let path):
            warn(
                "'\(path.text)' was claimed but is not a drop; check whether you need it, and remove it")
        case .workRemade:
            loseWhatIsGone()
            warn("the work folder '\(intake.spool.work.path.text)' was gone and has been created again")
            reportLostJobs()
        case .stillWritten(let job, let reason): observer(.stillWritten(job, reason: reason))
        case .refused(let path, let reason): observer(.refused(pipeline: pipeline.name, path: path, reason: reason))
        case .heldOpen(let path, let writer, let time):
            warn(
                "'\(path)' has been held open for \(time.text) by \(writer.fullText), and waits until it is "
                    + "closed; set `ready.timeout` to fail such drops")
        case .watching(let mode, let reason):
            if let reason { observer(.watching(pipeline: pipeline.name, mode, reason: reason)) }
        case .failed(let failure):
            if failure.isOfPlace { lastAway = (.now(), explained(failure)) }
            send(.intakeFailed(explained(failure)))
        case .recovered: send(.intakeRecovered)
        case .waiting(let count):
            waiting = count
            note()
        case .idle(let left): remaining = left
        case .limited(let count, let reason, let pause):
            let drops = count == 1 ? "1 complete drop waits" : "\(count) complete drops wait"
            observer(
                .warning(
                    pipeline: pipeline.name,
                    message: "\(drops) for '\(reason)', the next one for \(pause.text); stop, and the rest stays in "
                        + "the inbox, or raise the limit"))
        case .sight(let means): observer(.writers(pipeline: pipeline.name, means, quiet: pipeline.ready.blindQuiet))
        }
    }

    /// A drop that was just claimed, or found in the work folder without a record.
    private func enter(_ claim: Spool.Claimed, adopted: Bool) {
        let job = claim.job
        observer(.claimed(job, adopted: adopted))
        var record = JobRecord(claimed: job, identity: claim.identity, definition: pipeline.definition)
        record.modified = claim.modified
        let event = adopted ? "recovered" : "claimed"
        record.history = claim.arrival?.history(event, at: .now(), .now()) ?? [Transition(event, at: .now())]
        let recoveries = adopted ? 1 : 0
        jobs[job.id] = ActiveJob(job, record: record, seal: claim.seal, isResumed: adopted)
        let empty: Failure? = job.drop.size == 0 && pipeline.ready.empty == .fail ? .empty(job.drop.name) : nil
        let failure = claim.failure ?? empty
        send(
            .entered(
                job.id, failure.map { .settling(.failed($0)) } ?? .queued(stage: 0, failures: 0),
                recoveries: recoveries, isQuarantined: Recovery.isQuarantined(recoveries, in: pipeline)))
    }

    /// A small drop for which all stages are done.
    private func enter(_ active: ActiveJob) {
        let job = active.job
        observer(.claimed(job, adopted: false))
        for time in active.times { observer(.stageFinished(job, stage: time.kind, duration: time.duration)) }
        lately { lately in
            for time in active.times { lately.run(of: Lately.Place(kind: time.kind), took: time.duration) }
        }
        jobs[job.id] = active
        send(.entered(job.id, .queued(stage: pipeline.stages.count, failures: 0)))
    }

    /// A job of an earlier run that the journal knows.
    func enter(_ resumed: Recovery.Resumed) {
        let record = resumed.record
        observer(.claimed(resumed.job, adopted: true))
        jobs[record.id] = ActiveJob(resumed.job, record: record, seal: resumed.seal, isResumed: true)
        send(
            .entered(
                record.id, resumed.state, recoveries: record.recoveries, isIntended: !record.intents.isEmpty,
                isQuarantined: resumed.isQuarantined, rest: restOfDelay(of: record)))
    }

    /// How much longer a deferred job waits. Wall clocks jump: never longer than the longest wait there is.
    func restOfDelay(of record: JobRecord) -> Duration {
        record.nextAttempt.map { min(max($0 - .now(), .zero), pipeline.longestWait(of: record.stage)) } ?? .zero
    }

    /// What a worker made of a job. Where it failed, its folder may be gone.
    func receive(_ result: StageWorkers.Result) {
        started(result.work)
        guard case .failure = result.result, result.work.failed == nil, jobs[result.work.job.id] != nil else {
            return receive(result, isGone: false)
        }
        let start = MonotonicTime.now() - result.duration
        look(for: [result.work.job.id]) { runner, gone in
            // A stage that ran while a folder was away may have failed for want of it.
            if let away = runner.lastAway, away.time >= start {
                return runner.receive(result.failing(because: away.reason), isGone: false)
            }
            runner.receive(result, isGone: gone?.isEmpty == false)
        }
    }

    private func receive(_ result: StageWorkers.Result, isGone: Bool) {
        let id = result.work.job.id
        guard let job = jobs[id]?.job else { return }
        let entry = pipeline.allStages[result.work.stage]
        let kind = entry.kind
        result.notes.warnings.forEach(warn)
        if result.work.failed != nil { return notified(id, kind, result) }
        switch result.result {
        case .success(let payload):
            jobs[id]?.stageSucceeded(
                kind, at: result.work.stage, addsToFolders: entry.stage.addsToFolders, in: result.duration,
                giving: payload, saying: result.notes.text)
            observer(.stageFinished(job, stage: kind, duration: result.duration))
            lately { $0.run(of: places[result.work.stage], took: result.duration) }
            send(.succeeded(id, isDone: payload.isDone))
        case .failure where isGone: send(.lost(id))
        case .failure(let failure):
            if result.hasRun { jobs[id]?.failed(kind, at: result.work.stage, in: result.duration, because: failure) }
            send(.failed(id, failure, hasRun: result.hasRun, jitter: .random(in: 0...1)))
        }
    }

    /// What came of settlements. Where one failed, its folder may be gone.
    func receive(_ outcomes: [Settler.Outcome]) {
        for (settlement, result) in outcomes {
            jobs[settlement.job.id]?.settled(settlement)
            switch result {
            case .settled: send(.settled(settlement.job.id))
            case .fenced: send(.fenced(settlement.job.id))
            case .failed, .outputsLost: break
            }
        }
        let failed = outcomes.filter { $0.result.isFailure }
        guard !failed.isEmpty else { return }
        look(for: failed.map(\.settlement.job.id)) { runner, gone in
            for (settlement, result) in failed {
                let isGone = gone?.contains(settlement.job.id) ?? false
                runner.receive(gone == nil ? .failed(.workAway(runner.intake.spool)) : result, of: settlement, isGone)
            }
        }
    }

    private func receive(_ result: Settlement.Result, of settlement: Settlement, _ isGone: Bool) {
        let id = settlement.job.id
        switch result {
        case .settled, .fenced: break
        case .failed where isGone, .outputsLost where isGone: send(.lost(id))
        // There is nothing else that it could come to.
        case .failed(let failure) where failure.isMissing && settlement.isRelease: send(.lost(id))
        case .failed(let found):
            let failure = explained(found)
            // What was decided for success says nothing of a failure.
            if failure.class == .file { jobs[id]?.record.intents = [] }
            send(.unsettled(id, failure, isIntended: jobs[id]?.record.intents.isEmpty == false))
        case .outputsLost(let failure):
            jobs[id]?.record.lostOutputs(because: failure, at: .now())
            send(.outputsLost(id, failure))
        }
    }

    /// Other nodes have taken these over.
    func drop(_ ids: Set<JobID>) {
        let own = ids.filter { machine.jobs[$0] != nil }.sorted()
        guard let first = own.first else { return }
        let jobs = own.count == 1 ? "job \(first) was" : "\(own.count) jobs, such as \(first), were"
        warn("\(jobs) taken over by another node, which goes on with what is in the work folder")
        for id in own { send(.fenced(id)) }
        endTurn()
    }

    func warn(_ message: String) { observer(.warning(pipeline: pipeline.name, message: message)) }
}

extension Pipeline {
    /// The longest wait between two runs of a stage.
    fileprivate func longestWait(of stage: Int) -> Duration {
        (stages.indices.contains(stage) ? stages[stage].retry ?? retry : retry).maxBackoff
    }
}
