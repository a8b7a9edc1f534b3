package import FolderWatch
package import PipelineKit
package import SystemPackage

/// Something that happened, told to whoever shows or counts it. One per state change; never a decision.
package enum EngineEvent: Sendable {
    /// A pipeline is at work. `adopted`: how many jobs were found in its work folder.
    case started(pipeline: String, inbox: FilePath, adopted: Int)
    /// The inbox is not watched by events, or is again, with the reason and remedy in a sentence.
    case watching(pipeline: String, WatchMode, reason: String)
    /// How open writers are found out in an inbox: once it is first known, and where it became worse. `quiet`: how long
    /// drops must stand unchanged where nothing tells.
    case writers(pipeline: String, WriterSight.Means, quiet: Duration)
    /// Something in the inbox is left where it is, reported once: where it lies and why.
    case refused(pipeline: String, path: DropPath, reason: String)
    /// A drop was claimed (or, at start, found in the work folder).
    case claimed(Job, adopted: Bool)
    /// A claimed drop is still being written and waits in the work folder.
    case stillWritten(Job, reason: String)
    /// A worker began with a stage.
    case stageStarted(Job, stage: String)
    /// A stage is running for long; told about every two seconds.
    case stageProgress(Job, stage: String, running: Duration, progress: StageProgress)
    /// A stage handed on a payload.
    case stageFinished(Job, stage: String, duration: Duration)
    /// A stage failed in a way that is tried again.
    case deferred(Job, stage: String, failure: Failure, delay: Duration)
    case settled(JobReport)
    /// A pipeline stopped because of its surroundings.
    case paused(pipeline: String, Failure)
    /// It goes on.
    case resumed(pipeline: String, after: Duration)
    /// A warning without a job: a sentence with its remedy.
    case warning(pipeline: String?, message: String)
    /// The engine was asked to stop and waits for running stages.
    case stopping(running: Int, grace: Duration)
}
