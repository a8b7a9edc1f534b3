package import Files
import SystemPackage

/// One run of the daemon.
package struct RunRecord: Sendable, Hashable {
    /// The machine's boot (random/boot_id of proc(5)): after another one, what was not synced may be lost.
    package var boot: String
    package var process: Int
    /// When it began.
    package var startedAt: Timestamp
    /// When it ended in order; nil where it was killed, crashed, or runs still.
    package var endedAt: Timestamp?
    /// Whether jobs' folders passed from job to job.
    package var hasSlots: Bool

    /// A run that has begun.
    package init(boot: String, process: Int, startedAt: Timestamp, endedAt: Timestamp? = nil, hasSlots: Bool = true) {
        self.boot = boot
        self.process = process
        self.startedAt = startedAt
        self.endedAt = endedAt
        self.hasSlots = hasSlots
    }
}
