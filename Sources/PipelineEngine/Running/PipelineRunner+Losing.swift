import Journal
package import PipelineKit

/// Jobs whose folder somebody removed while they were at work: nothing of them can be gone on with.
extension PipelineRunner {
    /// Gives up what cannot be found any more, but for jobs that are busy: their next failure shows it.
    func loseWhatIsGone() {
        look(for: jobs.keys.sorted()) { runner, gone in
            for id in gone ?? [] where runner.jobs[id] != nil && !runner.busy.contains(id) { runner.lose(id) }
        }
    }

    /// Calls the body with those jobs whose folders are gone; with nil where folders are not found because the work
    /// folder is away. Its file system may not answer: it is asked where only this pipeline waits for it.
    func look(for ids: [JobID], then: @escaping @Sendable (PipelineRunner, [JobID]?) -> Void) {
        let folders = ids.compactMap { id in jobs[id].map { (id, $0.job.folder) } }
        ask(
            { work in
                let gone = folders.filter { Folder.kind(of: $0.1) == nil }
                return gone.isEmpty || work.isInPlace ? gone.map(\.0) : nil
            }, then: then)
    }

    /// Asks the work folder something on the intake's queue, and calls the body with the answer on the engine's.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable (WorkFolder) -> Answer,
        then: @escaping @Sendable (PipelineRunner, Answer) -> Void
    ) {
        let (work, post) = (intake.spool.work, later)
        intake.queue.async { @Sendable in
            let answer = question(work)
            post(.zero) { runner in then(runner, answer) }
        }
    }

    /// Where the work folder is the one that was gone, jobs lie in it that were given up: a start takes them up.
    func lookForLost() {
        ask({ $0.filledFolders }) { runner, found in
            let count = found.count { runner.jobs[$0] == nil }
            guard count > 0 else { return }
            let work = runner.intake.spool.work.path.text
            runner.observer(
                .warning(
                    pipeline: runner.pipeline.name,
                    message:
                        "the work folder '\(work)' holds \(count == 1 ? "1 job" : "\(count) jobs") that nothing goes "
                        + "on with: start Dropmill again to have that done, and do not send the drops again"))
        }
    }

    /// The job is over, and nobody knows where its drop is.
    func lose(_ id: JobID) {
        guard let active = jobs.removeValue(forKey: id) else { return }
        busy.remove(id)
        held.removeAll { $0 == id }
        var record = active.record
        record.lose(because: "its folder is gone from the work folder", at: .now())
        journal.note(record)
        tellLost(active.job)
        intake.release([active.job.drop.size])
        if pause.probing == id { goOn() }
    }

    /// A drop that was claimed and not begun with, of which the journal knows nothing yet.
    func lose(_ job: Job) {
        var record = JobRecord(claimed: job, identity: .unknown, definition: pipeline.definition)
        record.lose(because: "it is gone from its job's folder", at: .now())
        journal.note(record)
        tellLost(job)
    }

    private func tellLost(_ job: Job) {
        summary.failed += 1
        observer(
            .warning(
                pipeline: pipeline.name,
                message: "job \(job.id) ('\(job.drop.path)') is lost: somebody removed its folder from the work folder "
                    + "while it was at work; send it again"))
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

    /// Whether that was said of it.
    var isGivenUp: Bool { state == .lost && history.last { $0.event == "lost" }?.note == Self.givenUp }

    private static let givenUp = "given up"
}
