import Files
import Journal
import PipelineKit
import SystemPackage

extension JobRecord {
    /// Releases the job where no pipeline has it at work. Why not, or nil; then its settlement is to follow. One that
    /// was broken off is gone on with.
    mutating func release(by person: String, at now: Timestamp) -> String? {
        if let rest { return rest }
        if state == .settling, failure?.isRelease ?? false { return nil }
        guard state != .settling else {
            return isCalledOff ? "it is cancelled" : "too late: it is being settled, and goes on once its pipeline runs"
        }
        note(.settling(.failed(.released(by: person))), stages: definition.stages.count)
        released(by: person, at: now)
        return nil
    }

    /// Notes who released it.
    mutating func released(by person: String, at now: Timestamp) {
        history.append(Transition("released", at: now, note: "by \(person)"))
    }

    /// The job as it lies in its folder.
    func job(in folder: FilePath) -> Job {
        // Not recorded: the folder shows it.
        let drop = Drop(
            name: drop.name, folders: drop.folders, size: drop.size, droppedAt: drop.droppedAt,
            isFolder: Folder.kind(of: folder.appending(drop.name)) == .folder)
        let job = Job(id: id, pipeline: pipeline, drop: drop, claimedAt: claimedAt, folder: folder)
        return job.with(from: producer ?? Spool.producer(of: job))
    }
}
