public import Files
public import PipelineKit
public import SystemPackage

/// Something that happened in a mill: one for each change of state. `description` says it in a sentence.
public struct MillEvent: Sendable, CustomStringConvertible {
    /// What happened. More may come with later versions: a `switch` over it needs a `default`.
    public enum Kind: String, Sendable {
        /// A pipeline is at work.
        case started
        /// How an inbox is watched has changed.
        case watching
        /// How open writers are detected in an inbox has become known, or worse.
        case writers
        /// Something in an inbox is left alone.
        case refused
        /// A drop was claimed, or found in the work folder at the start.
        case claimed
        /// A claimed drop is still being written.
        case stillWritten
        /// A worker began with a stage.
        case stageStarted
        /// A stage has been running for long.
        case stageProgress
        /// A stage handed on a payload.
        case stageFinished
        /// A stage failed and will be retried.
        case deferred
        /// A job succeeded.
        case processed
        /// A job failed.
        case failed
        /// A person ended a job: its drop is in the inbox again.
        case released
        /// A pipeline stopped because of its surroundings.
        case paused
        /// It resumed.
        case resumed
        /// A warning: a sentence with its remedy.
        case warning
        /// Other pipelines are in force.
        case reloaded
        /// The mill was asked to stop.
        case stopping
        /// The mill has stopped: the last event of a run.
        case stopped
        /// Events were dropped, since whoever iterates over them was too slow.
        case missed
    }

    /// What happened.
    public let kind: Kind
    /// The pipeline's name; nil where it concerns all.
    public internal(set) var pipeline: String?
    /// The job that it is about.
    public internal(set) var job: JobID?
    /// The drop that it is about.
    public internal(set) var drop: DropPath?
    /// The kind of the stage that it is about.
    public internal(set) var stage: String?
    /// What went wrong.
    public internal(set) var failure: StageFailure?
    /// What was published: files or folders, and what lies beside them.
    public internal(set) var outputs: [FilePath] = []
    /// Where the original of a finished job is; nil where it was deleted or published.
    public internal(set) var original: FilePath?
    /// How many events were dropped.
    public internal(set) var missed = 0
    /// A sentence without a full stop.
    public let description: String

    init(_ kind: Kind, _ description: String) {
        self.kind = kind
        self.description = description
    }
}
