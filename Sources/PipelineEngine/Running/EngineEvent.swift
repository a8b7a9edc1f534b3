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
    case draining(Job, reason: String)
    /// A worker began with a stage.
    case stageStarted(Job, stage: String)
    /// A stage is running for long; told about every two seconds.
    case stageProgress(Job, stage: String, running: Duration, progress: StageProgress)
    /// A stage handed on a payload.
    case stageFinished(Job, stage: String, duration: Duration)
    /// A stage failed in a way that is tried again.
    case deferred(Job, stage: String, failure: StageFailure, delay: Duration)
    /// A job is over.
    case settled(JobReport)
    /// A pipeline stopped because of its surroundings.
    case paused(pipeline: String, StageFailure)
    /// It goes on.
    case resumed(pipeline: String, after: Duration)
    /// Something that somebody should know, without a job: a sentence with its remedy.
    case warning(pipeline: String?, message: String)
    /// The engine was asked to stop and waits for running stages.
    case stopping(running: Int, grace: Duration)
}

/// How an inbox is watched.
package enum WatchMode: Sendable, Equatable {
    /// The kernel tells what happens (inotify(7)), and a scan now and then makes sure.
    case events
    /// A scan every so often, since the kernel does not tell.
    case polling(every: Duration)
}

/// How one job went.
package struct JobReport: Sendable {
    /// The job.
    package let job: Job
    /// How it ended.
    package let outcome: JobState.Outcome
    /// Where the original went; nil where it was deleted or published as the payload.
    package let original: FilePath?
    /// What was published: the file or folder, and what lies beside it.
    package let outputs: [FilePath]
    /// From the claim to the end.
    package let duration: Duration
    /// What each stage took that ran, in order.
    package let stages: [StageTime]

    /// The time of one stage, all its runs together.
    package struct StageTime: Sendable {
        /// The kind's word.
        package let kind: String
        /// The time.
        package let duration: Duration
    }
}

/// What an engine did until it stopped.
package struct RunSummary: Sendable {
    /// Jobs that succeeded.
    package var processed = 0
    /// Jobs that failed.
    package var failed = 0
    /// Jobs that were not over and wait in their work folders for the next start.
    package var unfinished = 0
    /// With `once`: drops that stayed in their inboxes, with the reason.
    package var remaining: [Remaining] = []

    /// A drop that stayed.
    package struct Remaining: Sendable {
        /// The pipeline.
        package let pipeline: String
        /// Where it lies in the inbox.
        package let path: DropPath
        /// Why: `still being written`.
        package let reason: String
        /// Whether somebody has to look at it: what came with it says that it is not what was sent.
        package var isContradicted = false
    }
}
