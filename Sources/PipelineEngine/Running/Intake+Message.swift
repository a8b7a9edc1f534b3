import Files
import FolderWatch
import PipelineKit
import Readiness
import SystemPackage

extension Intake {
    /// What the intake reports.
    enum Message: Sendable {
        case claimed([Spool.Claimed], adopted: Bool)
        /// Small drops were claimed, and all stages are done for them.
        case ran([ActiveJob])
        case stillWritten(Job, reason: String)
        /// A claimed drop is gone from its job's folder.
        case lost(Job)
        /// What was in a job's folder was no drop, and is kept there.
        case keptAside(FilePath)
        /// The work folder was gone, and is there again, empty.
        case workRemade
        case refused(DropPath, reason: String)
        /// A drop has been held open long enough to report it.
        case heldOpen(DropPath, Waiting.Writer, for: Duration)
        case watching(WatchMode, reason: String?)
        case waiting(Int)
        /// With `once`: so many complete drops wait for the pipeline's limit, the next one for so long.
        case limited(Int, reason: String, for: Duration)
        /// The inbox or work folder is unusable; nothing is claimed until `resume`.
        case failed(Failure)
        case recovered
        /// With `once`, or where nothing comes in: nothing is left to be claimed but these, which are still being
        /// written.
        case idle(remaining: [Left])
        /// How open writers are detected.
        case sight(WriterSight.Means)
    }

    /// A drop that is not taken, and why.
    struct Left: Sendable {
        let path: DropPath
        let reason: String
        /// Whether an operator must look: its digest says that it is not what was sent.
        var isContradicted = false
    }
}
