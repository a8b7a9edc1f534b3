import Files
import PipelineKit

// How an intake gives way to the next one of its pipeline.
extension Intake {
    /// Ends watching and claiming. `done` is called on the queue when nothing is under way any more, with the drops
    /// that are claimed and of which nothing was delivered: they wait in their folders, or were to be proved or copied.
    nonisolated func retire(done: @escaping @Sendable ([Job]) -> Void) {
        lane?.close()
        enqueue { intake in
            intake.isClaiming = false
            intake.watcher?.assumeIsolated { $0.stop() }
            // What these queues have under way is handled before the next message here.
            intake.lane?.stop()
            intake.proofs.stop()
            intake.copying.stop()
            intake.enqueue { intake in
                let left = intake.undelivered
                intake.note?.end()
                intake.end()
                done(left)
            }
        }
    }

    /// Claimed drops that the engine has not heard of.
    private var undelivered: [Job] {
        var jobs: [JobID: Job] = [:]
        for job in heldJobs + lateWriters.all + proofs.jobs + copying.jobs { jobs[job.id] = job }
        return jobs.values.sorted { $0.id < $1.id }
    }
}
