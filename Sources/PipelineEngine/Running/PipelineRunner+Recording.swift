import Files
import Journal
import PipelineKit

/// What is written down.
extension PipelineRunner {
    /// Brings the job's record up to where the machine says that it is.
    func noteProgress(of id: JobID) {
        guard let entry = machine.jobs[id] else { return }
        jobs[id]?.note(entry.onRecord, stages: pipeline.stages.count)
        jobs[id]?.record.recoveries = entry.recoveries
    }

    /// Queues the job's record for the journal.
    func write(_ id: JobID) {
        noteProgress(of: id)
        if let record = jobs[id]?.record { journal.note(record) }
    }

    /// Records at once that a settlement begins that may crash the daemon.
    func count(_ id: JobID) {
        noteProgress(of: id)
        guard let record = jobs[id]?.record else { return }
        let post = later
        journal.commit([record]) { @Sendable result in
            var failure: Failure?
            if case .failure(let error) = result { failure = Failure(error) }
            post(.zero) { [failure] runner in runner.send(.counted(id, failure)) }
        }
    }

    func `defer`(_ id: JobID, because failure: Failure, for delay: Duration) {
        noteProgress(of: id)
        guard let stage = jobs[id]?.wait(delay), let active = jobs[id] else { return }
        journal.note(active.record)
        observer(.deferred(active.job, stage: stage, failure: failure, delay: delay))
        later(delay) { runner in runner.send(.due(id)) }
    }

    /// Queues the pipeline's state for the journal, if it changed.
    func note() {
        // The next generation says how it stands, or the one that has its inbox.
        guard !machine.isRetired, !intake.spool.isTail else { return }
        let pause = machine.pause
        if pause.reason != nil, pausedAt?.since != pause.since { pausedAt = (pause.since, .now()) }
        var record = pipeline.record(at: lastNote?.updatedAt ?? .now())
        (record.waiting, record.paused) = (waiting, pause.reason)
        record.pausedSince = pause.reason == nil ? nil : pausedAt?.time
        record.works = works
        guard record != lastNote else { return }
        record.updatedAt = .now()
        lastNote = record
        journal.note(record)
    }

    /// Queues the records of all unfinished jobs for the journal.
    func writeAll() {
        checkWorkers()
        endTurn()
        lastNote = nil
        note()
        // What is being settled for the first time has intents that only its batch knows; that writes them down.
        for (id, job) in jobs where machine.jobs[id]?.holder != .settler || !job.record.intents.isEmpty { write(id) }
    }
}

extension Pipeline {
    /// What the journal is to know of it, while nothing waits and nothing is wrong.
    func record(at time: Timestamp) -> PipelineRecord {
        var record = PipelineRecord(
            name: name, source: source.absolute, inbox: inbox, failed: failed, stages: stages.map(\.kind), waiting: 0,
            updatedAt: time)
        record.definition = definition.text
        return record
    }

    /// The same with the places of its work folder; nil where the journal knows these.
    func record(works: [WorkPlace], after before: PipelineRecord?) -> PipelineRecord? {
        guard before?.works != works else { return nil }
        var record = record(at: .now())
        record.works = works
        return record
    }
}
