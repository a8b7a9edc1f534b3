package import Files
package import FolderWatch
package import Journal
package import PipelineKit
package import Readiness
package import SystemPackage

/// Something that happened, reported to observers. One per state change; never a decision.
package enum EngineEvent: Sendable {
    /// A pipeline is at work. `adopted`: how many jobs were found in its work folder.
    case started(pipeline: String, inbox: FilePath, adopted: Int)
    /// Event watching stopped or works again, with the reason and remedy in a sentence.
    case watching(pipeline: String, WatchMode, reason: String)
    /// How open writers are detected in an inbox: when first known, and when it degrades. `quiet`: how long
    /// drops must stand unchanged if writers cannot be detected.
    case writers(pipeline: String, WriterSight.Means, quiet: Duration)
    /// Something in the inbox is left alone, reported once: where it is and why.
    case refused(pipeline: String, path: DropPath, reason: String)
    /// A drop was claimed (or, at start, found in the work folder).
    case claimed(Job, adopted: Bool)
    /// A claimed drop is still being written and waits in the work folder.
    case stillWritten(Job, reason: String)
    /// A worker began with a stage.
    case stageStarted(Job, stage: String)
    /// A stage has been running for long; reported every two seconds.
    case stageProgress(Job, stage: String, running: Duration, progress: StageProgress)
    /// A stage handed on a payload.
    case stageFinished(Job, stage: String, duration: Duration)
    /// A stage failed and will be retried.
    case deferred(Job, stage: String, failure: Failure, delay: Duration)
    case settled(JobReport)
    /// A pipeline stopped because of its surroundings.
    case paused(pipeline: String, Failure)
    /// It resumed.
    case resumed(pipeline: String, after: Duration)
    /// Something in it has not moved for long: a job that is at work, or its inbox, which does not answer.
    case stalled(pipeline: String, Stall)
    /// Something moves there again.
    case moving(pipeline: String, after: Duration)
    /// A person holds a pipeline; also told when one that is held begins.
    case held(HoldRecord)
    /// A person lifted that; nil: its time is over.
    case lifted(HoldRecord, by: String?)
    /// A pipeline is outside its hours: what is said of that. Also told when one that is begins.
    case closed(pipeline: String, String)
    /// It is within its hours again.
    case opened(pipeline: String)
    /// A warning without a job: a sentence with its remedy.
    case warning(pipeline: String?, message: String)
    /// The history cannot be archived and is kept, told once until it can: a sentence with its remedy. nil: it can.
    case archiving(trouble: String?)
    /// So many jobs have left the history: a sentence.
    case historyEnded(jobs: Int, message: String)
    /// Originals of a pipeline that were to be kept no longer have been removed: how many, in a sentence.
    case pruned(pipeline: String, files: Int, message: String)
    /// Originals of a pipeline that are to be kept no longer cannot be removed, told once until they can: a sentence
    /// with its remedy. nil: they can.
    case pruning(pipeline: String, trouble: String?)
    /// Trouble with the journal or the state folder: a sentence with its remedy.
    case trouble(message: String)
    /// Other pipelines are in force, and what that means for each; and which of the daemon's settings have changed.
    case reloaded([PipelineChange], settings: [String])
    /// The engine was asked to stop and waits for running stages.
    case stopping(running: Int, grace: Duration)
}
