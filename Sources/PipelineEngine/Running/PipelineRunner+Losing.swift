package import Files
import Journal
import PipelineKit
import SystemPackage

/// Jobs whose folder was removed while they ran: they cannot continue.
extension PipelineRunner {
    /// Gives up what cannot be found any more, but for jobs that are busy: their next failure shows it.
    func loseWhatIsGone() {
        look(for: jobs.keys.sorted()) { runner, gone in
            for id in gone ?? [] where !runner.machine.isBusy(id) { runner.send(.lost(id)) }
        }
    }

    /// Calls the body with those jobs whose folders are gone; with nil where that cannot be told because the work
    /// folder is away. Its file system may not answer: it is asked where only this pipeline waits for it.
    func look(for ids: [JobID], then: @escaping @Sendable (PipelineRunner, [JobID]?) -> Void) {
        let folders = ids.compactMap { id in jobs[id].map { (id, $0.job.folder) } }
        ask(
            { work in Self.gone(folders, from: work) },
            then: { runner, gone in
                if gone == nil { runner.lastAway = (.now(), runner.explained(.workAway(runner.intake.spool))) }
                then(runner, gone)
            })
    }

    /// Why something failed: a folder that is not there was taken away by others where this node's lease may be over.
    func explained(_ failure: Failure) -> Failure { failure.isOfPlace && !journal.mayAct ? .journalAway : failure }

    private static func gone(_ folders: [(JobID, FilePath)], from work: WorkFolder) -> [JobID]? {
        do throws(IOError) {
            var gone: [JobID] = []
            for (id, folder) in folders {
                guard let isGone = try work.isGone(folder) else { return nil }
                if isGone, try !work.hasSetAside(id) { gone.append(id) }
            }
            return gone
        } catch {
            return nil
        }
    }

    /// Checks whether the drop of a failed job is there.
    func look(_ id: JobID) {
        guard let drop = jobs[id]?.job.original else { return }
        ask(
            { _ in Folder.kind(of: drop) != nil },
            then: { runner, isThere in runner.send(.looked(id, isThere: isThere)) })
    }

    /// Asks the work folder something on the intake's queue, and calls the body with the answer on the engine's.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (WorkFolder) -> Answer,
        then: @escaping @Sendable (PipelineRunner, Answer) -> Void
    ) {
        let (work, post) = (intake.spool.work, later)
        intake.executor.queue.async { @Sendable in
            let answer = question(work)
            post(.zero) { runner in then(runner, answer) }
        }
    }

    /// Where the work folder is the one that was gone, jobs lie in it that were given up: a start takes them up.
    func reportLostJobs() {
        ask({ $0.filled }) { runner, found in
            let known = Set(runner.jobs.values.map(\.job.slot))
            let count = found.count { !known.contains($0) }
            guard count > 0 else { return }
            runner.warn(
                "the work folder '\(runner.intake.spool.work.path.text)' holds "
                    + "\(count == 1 ? "1 unprocessed job" : "\(count) unprocessed jobs"): start Dropmill again "
                    + "to resume them, and do not send the drops again")
        }
    }

    /// A drop that was claimed and not begun with, of which the journal knows nothing yet.
    func lose(_ job: Job) {
        let record = JobRecord(claimed: job, identity: .unknown, definition: pipeline.definition)
        lose(job, record, because: "it is gone from its job's folder")
    }

    /// The job ends as lost: its drop cannot be found.
    func lose(_ job: Job, _ record: JobRecord, because reason: String) {
        // Others may have taken it over, and then it is where they have it.
        guard journal.mayAct else { return }
        var record = record
        record.lose(because: reason, at: .now())
        journal.note(record)
        lately { $0.end(record, at: nil) }
        summary.failed += 1
        warn(
            "job \(job.id) ('\(job.drop.path)') is lost: it was removed from the work folder while it ran; send the "
                + "drop again")
    }
}

extension JobRecord {
    /// The job is over without an end.
    package mutating func lose(because note: String, at time: Timestamp) {
        state = .lost
        finishedAt = time
        nextAttempt = nil
        history.append(Transition("lost", at: time, note: note))
    }

    /// Gives up a job for good: whoever said so may have sent its drop again.
    package mutating func giveUp(at time: Timestamp) { lose(because: Self.givenUp, at: time) }

    var isGivenUp: Bool { state == .lost && history.last { $0.event == "lost" }?.note == Self.givenUp }

    private static let givenUp = "given up"
}
