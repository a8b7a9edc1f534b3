import Files
import FolderWatch
import PipelineKit
import Readiness

// Whose drops are, what each producer has claimed, and how fast drops are claimed.
extension Intake {
    /// A job takes up room.
    func reserve(_ job: Job) {
        room.reserve(job.drop.size, of: job.producer)
        guard spool.pipeline.fair?.active != nil, let producer = job.producer else { return }
        // Who it is from may be found out later, or found otherwise: it gives back what it took.
        counted[job.id] = producer
        if room.isFull(producer) { ready.block(producer) }
    }

    /// It gives it back.
    func giveBack(_ job: Job) {
        let producer = counted.removeValue(forKey: job.id)
        room.giveBack(job.drop.size, of: producer)
        if let producer, !room.isFull(producer) { ready.unblock(producer) }
    }

    /// Whether the pipeline's limit lets a drop of that size be claimed now.
    func isDue(_ size: Int64) -> Bool {
        guard let limit else { return true }
        let now = MonotonicTime.now()
        return limit.opens(for: size, at: now) <= now
    }

    /// A run that is to end would seem to hang.
    func tell(ofLimit pause: Duration, at now: MonotonicTime) {
        guard !hasToldOfLimit, pause >= .seconds(10), let next = ready.first(),
            let reason = limit?.reason(for: next.fingerprint.size, at: now)
        else { return }
        hasToldOfLimit = true
        deliver(.limited(ready.count, reason: reason, for: pause))
    }

    /// Where a drop waits; nil where the pipeline is not shared. `inbox`: where its owner can be looked up.
    func place(of path: DropPath, in inbox: OpenInbox?) -> FairOrder.Place? {
        guard spool.pipeline.fair != nil || spool.pipeline.priority != nil else { return nil }
        return FairOrder.Place(of: path, in: spool.pipeline, owner: inbox.flatMap { owner(of: path, in: $0) })
    }

    /// A job that was just claimed, as its producer's.
    func attributed(_ job: Job, to producer: String?) -> Job {
        guard let fair = spool.pipeline.fair else { return job }
        return job.with(from: producer ?? fair.producer(of: job.drop.path) ?? Spool.producer(of: job))
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
