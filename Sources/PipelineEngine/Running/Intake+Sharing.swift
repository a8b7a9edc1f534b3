import Files
import FolderWatch
import PipelineKit
import Readiness

// Whose drops are, what each producer has claimed, and how fast drops are claimed.
extension Intake {
    /// A job takes up room.
    func reserve(_ job: Job) {
        room.reserve(job.drop.size)
        if let producer = job.producer { ready.begin(producer) }
    }

    /// It gives it back.
    func giveBack(_ job: Job) {
        room.giveBack(job.drop.size)
        if let producer = job.producer { ready.end(producer) }
    }

    /// Whether the pipeline's limit lets a drop of that size be claimed now.
    func isDue(_ size: Int64) -> Bool {
        guard let limit else { return true }
        let now = MonotonicTime.now()
        return limit.opens(for: size, at: now) <= now
    }

    /// Where a drop waits; nil where the pipeline is not shared. `inbox`: where its owner can be looked up.
    func place(of path: DropPath, in inbox: OpenInbox?) -> FairOrder.Place? {
        guard spool.pipeline.fair != nil || spool.pipeline.priority != nil else { return nil }
        return FairOrder.Place(of: path, in: spool.pipeline, owner: inbox.flatMap { owner(of: path, in: $0) })
    }

    /// Whose a drop is that waits, where the pipeline is shared by that.
    func producer(of path: DropPath) -> String? {
        guard spool.pipeline.fair != nil, let producer = ready.producer(of: path), !producer.isEmpty else { return nil }
        return producer
    }

    private func owner(of path: DropPath, in inbox: OpenInbox) -> String? {
        do throws(IOError) {
            let folder = try inbox.open(path.folder)
            return FileStatus.of(path.name, in: folder.file).map { Spool.producer(of: $0.st_uid) }
        } catch {
            // It is found gone at its claim.
            return nil
        }
    }
}
