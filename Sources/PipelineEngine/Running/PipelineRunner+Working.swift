import Journal
import PipelineKit

extension PipelineRunner {
    /// Brings the events to the job's state, and does what it says.
    func apply(_ events: [JobState.Event], to id: JobID) {
        for event in events {
            guard let active = jobs[id] else { return }
            guard let (state, action) = active.state.next(event, rules(for: event, stage: active.state.stage)) else {
                observer(
                    .warning(
                        pipeline: pipeline.name,
                        message: "job \(id): \(event) cannot happen in state \(active.state); this is a bug, "
                            + "please report it"))
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
            write(id)
            held.append(id)
            stopWorking(because: failure)
        case .park:
            write(id)
            held.append(id)
        case .release: jobs[id] = nil
        }
    }

    private func run(_ id: JobID, stage: Int) {
        guard let active = jobs[id] else { return }
        guard pipeline.stages[stage].applies(to: active.job.drop, active.payload) else {
            jobs[id]?.skipped(pipeline.stages[stage].kind)
            return apply([.started, .succeeded], to: id)
        }
        write(id)
        guard mayWork(id) else { return held.append(id) }
        busy.insert(id)
        var work = StageWorkers.Work(job: active.job, payload: active.payload, stage: stage)
        if active.record.recoveries > 0 || active.mayBeIntended {
            // The daemon died while this job was there: if it does again, this must be on record as having run.
            var record = jobs[id]?.record ?? active.record
            record.state = .running
            work.before = { @Sendable [journal, record] () throws(StageFailure) in
                do throws(JournalError) { try journal.commit(record) } catch { throw StageFailure(error) }
            }
        }
        submit(work)
    }

    private func submit(_ work: StageWorkers.Work) {
        jobs[work.job.id]?.isBegun = false
        workers[work.stage].submit(work)
        lookSoon()
    }

    /// Has it told and written down before long what workers are at. That each tells what it takes would be a message
    /// and a row for every job, a tenth of the work with small files, and most stages are done in a millisecond.
    private func lookSoon() {
        guard !isLookDue, !busy.isEmpty else { return }
        isLookDue = true
        later(.milliseconds(200)) { runner in
            runner.isLookDue = false
            runner.lookAtWorkers()
            runner.lookSoon()
        }
    }

    func lookAtWorkers() {
        for stage in workers {
            for running in stage.running where began(running.work) { write(running.work.job.id) }
        }
    }

    /// A worker took a job; false where that is known.
    @discardableResult
    func began(_ work: StageWorkers.Work) -> Bool {
        guard let active = jobs[work.job.id], !active.isBegun else { return false }
        jobs[work.job.id]?.isBegun = true
        observer(.stageStarted(active.job, stage: pipeline.allStages[work.stage].kind))
        if work.failed == nil { apply([.started], to: work.job.id) }
        return true
    }

    /// `isDropThere`: whether its drop is, where that was asked already.
    private func settle(_ id: JobID, _ outcome: JobState.Outcome, isDropThere: Bool? = nil) {
        jobs[id]?.writeState(stages: pipeline.stages.count)
        guard let active = jobs[id] else { return }
        // What is finished is settled also while the engine stops: it is quick, and then it is done.
        guard !pause.isPaused || pause.probing == id else { return held.append(id) }
        if case .failed(let failure) = outcome, active.record.intents.isEmpty, active.told < pipeline.onFailure.count {
            guard let isDropThere else {
                busy.insert(id)
                let drop = active.job.original
                return ask(
                    { _ in Folder.kind(of: drop) != nil },
                    then: { runner, isThere in
                        runner.busy.remove(id)
                        runner.settle(id, outcome, isDropThere: isThere)
                    })
            }
            if isDropThere, tell(id, failure) { return }
        }
        busy.insert(id)
        guard Recovery.isSuspect(active.record.recoveries, in: pipeline) else {
            jobs[id]?.mayBeIntended = true
            return settle(active.settlement(outcome))
        }
        // If the daemon dies of it now, that must be on record.
        jobs[id]?.beginsCountedSettlement()
        let post = later
        journal.commit([jobs[id]?.record ?? active.record]) { @Sendable result in
            post(.zero) { runner in runner.counted(id, outcome, result) }
        }
    }

    private func counted(_ id: JobID, _ outcome: JobState.Outcome, _ result: Result<Void, JournalError>) {
        guard let active = jobs[id] else { return }
        switch result {
        case .success:
            jobs[id]?.mayBeIntended = true
            settle(active.settlement(outcome))
        case .failure(let error):
            busy.remove(id)
            _ = jobs[id]?.survivedSettlement()
            apply([.failed(StageFailure(error))], to: id)
        }
    }

    // MARK: Telling of a failure

    /// Hands a failed job to the next stage of `on_failure`; false where none is left, or it is on its way to `failed`
    /// already. After a crash the stages are run again.
    private func tell(_ id: JobID, _ failure: StageFailure) -> Bool {
        guard let active = jobs[id] else { return false }
        var drop = Payload(dropOf: active.job)
        // What was found out until then may be named, too.
        drop.digests = active.payload.digests
        drop.facts = active.payload.facts
        for (index, entry) in pipeline.onFailure.enumerated().dropFirst(active.told) {
            guard entry.applies(to: active.job.drop, drop) else {
                jobs[id]?.told += 1
                continue
            }
            write(id)
            guard !isStopping else {
                held.append(id)
                return true
            }
            busy.insert(id)
            let stage = pipeline.stages.count + index
            submit(
                StageWorkers.Work(
                    job: active.job, payload: drop, stage: stage, failed: active.failed(because: failure)))
            return true
        }
        return false
    }

    /// A stage of `on_failure` was run, and what became of it changes nothing; the next one follows.
    func told(_ id: JobID, _ kind: String, _ result: StageWorkers.Result) {
        guard case .settling(let outcome) = jobs[id]?.state else { return }
        var failure: StageFailure?
        if case .failure(let reason) = result.result { failure = reason }
        if failure?.class == .cancelled { return perform(.park, id) }
        jobs[id]?.told(by: kind, in: result.duration, failure, saying: result.notes.text)
        if let failure, let job = jobs[id]?.job {
            observer(
                .warning(
                    pipeline: pipeline.name,
                    message: "job \(id): '\(kind)' of 'on_failure' could not tell that '\(job.drop.name)' failed: "
                        + failure.summary))
        }
        settle(id, outcome)
    }

    private func wait(_ id: JobID, _ delay: Duration) {
        guard case .deferred(_, let failures, let failure) = jobs[id]?.state, let job = jobs[id]?.job else { return }
        write(id)
        let next = Timestamp(nanoseconds: Timestamp.now().nanoseconds + delay.nanoseconds)
        jobs[id]?.record.nextAttempt = next
        jobs[id]?.record.history.append(
            Transition("deferred", at: .now(), note: "attempt \(failures + 1) in \(delay.text)"))
        if let record = jobs[id]?.record { journal.note(record) }
        observer(.deferred(job, stage: jobs[id]?.stage ?? "", failure: failure, delay: delay))
        later(delay) { runner in runner.apply([.due], to: id) }
    }

    private func mayWork(_ id: JobID) -> Bool { !isStopping && (!pause.isPaused || pause.probing == id) }

    /// Chance is drawn for failures alone: nothing else asks for it, and it is a system call.
    private func rules(for event: JobState.Event, stage: Int?) -> JobState.Rules {
        var rules = rules(stage: stage)
        if case .failed = event { rules.jitter = .random(in: 0...1) }
        return rules
    }

    func rules(stage: Int?) -> JobState.Rules {
        JobState.Rules(stages: pipeline.stages.count, retry: policy(stage: stage ?? 0))
    }

    func policy(stage: Int) -> RetryPolicy {
        pipeline.stages.indices.contains(stage) ? pipeline.stages[stage].retry ?? pipeline.retry : pipeline.retry
    }
}
