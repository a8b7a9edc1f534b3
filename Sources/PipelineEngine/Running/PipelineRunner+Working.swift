import Files
import Journal
import PipelineKit

/// What workers are given.
extension PipelineRunner {
    /// Hands a job to the workers of a stage, unless that is not for it.
    func run(_ id: JobID, stage: Int, isCommitted: Bool) {
        guard let active = jobs[id] else { return }
        guard pipeline.stages[stage].applies(to: active.job.drop, active.payload) else {
            jobs[id]?.skipped(pipeline.stages[stage].kind, at: stage)
            return send(.succeeded(id, hasRun: false))
        }
        var work = StageWorkers.Work(job: active.job, payload: active.payload, stage: stage)
        if isCommitted {
            // The daemon died while this job was there: if it does again, this must be on record as having run.
            var record = active.record
            record.state = .running
            work.before = { @Sendable [journal, record] cancellation throws(Failure) in
                let fenced: Set<JobID>?
                do throws(JournalError) {
                    fenced = try journal.commit([record], unless: { @Sendable in cancellation.isCancelled })
                } catch {
                    throw Failure(error)
                }
                guard fenced == [] else { throw .cancelled }
            }
        }
        submit(work)
    }

    /// Hands a failed job to a stage of `on_failure`, unless that is not for it.
    func notify(_ id: JobID, of failure: Failure, index: Int) {
        guard let active = jobs[id] else { return }
        var drop = Payload(dropOf: active.job)
        // What was found out until then may be named, too.
        drop.digests = active.payload.digests
        drop.facts = active.payload.facts
        guard pipeline.onFailure[index].applies(to: active.job.drop, drop) else { return send(.notified(id)) }
        submit(
            StageWorkers.Work(
                job: active.job, payload: drop, stage: pipeline.stages.count + index,
                failed: active.failed(because: failure)))
    }

    /// A stage of `on_failure` was run, and what came of it changes nothing.
    func notified(_ id: JobID, _ kind: String, _ result: StageWorkers.Result) {
        var failure: Failure?
        if case .failure(let reason) = result.result { failure = reason }
        if failure?.class == .cancelled { return send(.notificationCancelled(id)) }
        jobs[id]?.notified(by: kind, in: result.duration, failure, saying: result.notes.text)
        if let failure, let job = jobs[id]?.job {
            warn(
                "job \(id): '\(kind)' of 'on_failure' failed to report '\(job.drop.name)': "
                    + failure.summary)
        }
        send(.notified(id))
    }

    private func submit(_ work: StageWorkers.Work) {
        workers[work.stage].submit(work)
        scheduleWorkerCheck()
    }

    /// Has it reported and written down before long what workers are at. A message and a row for every job that one
    /// takes would be a tenth of the work with small files, and most stages are done in a millisecond.
    private func scheduleWorkerCheck() {
        guard !isLookDue else { return }
        isLookDue = true
        later(.milliseconds(200)) { runner in
            runner.isLookDue = false
            runner.checkWorkers()
            if !runner.machine.isQuiet { runner.scheduleWorkerCheck() }
        }
    }

    func checkWorkers() {
        for running in workers.flatMap(\.running) where started(running.work) {
            let (id, stage) = (running.work.job.id, running.work.stage)
            if running.work.failed == nil { jobs[id]?.begun(pipeline.allStages[stage].kind, .now() - running.since) }
            send(.began(id))
        }
    }

    /// A worker has begun with a job; false where that is known.
    @discardableResult
    func started(_ work: StageWorkers.Work) -> Bool {
        guard machine.isWithdrawable(work.job.id) else { return false }
        observer(.stageStarted(work.job, stage: pipeline.allStages[work.stage].kind))
        return true
    }
}
