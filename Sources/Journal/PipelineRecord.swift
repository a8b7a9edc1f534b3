package import Files
package import PipelineKit
package import SystemPackage

/// What the journal knows of a pipeline as a whole, for those who look from outside.
package struct PipelineRecord: Sendable, Equatable {
    /// Its name.
    package var name: String
    /// The file that describes it, absolute; nil where an older Dropmill wrote this.
    package var source: FilePath?
    /// Its inbox, absolute: where a failed original is sent in again.
    package var inbox: FilePath
    /// Its folder for failed originals, absolute.
    package var failed: FilePath
    /// Its stages' kinds, in order.
    package var stages: [String]
    /// The stages as jobs have them on record, where several nodes share the journal; else nil.
    package var definition: String?
    /// How many drops wait in the inbox.
    package var waiting: Int
    /// Why it is paused; nil while it works.
    package var paused: Failure?
    /// Since when it is paused.
    package var pausedSince: Timestamp?
    /// When this was written.
    package var updatedAt: Timestamp
    /// Where its work folder is, and before that where those were that may still hold jobs.
    package var works: [WorkPlace] = []

    package init(
        name: String, source: FilePath? = nil, inbox: FilePath, failed: FilePath, stages: [String], waiting: Int,
        paused: Failure? = nil, pausedSince: Timestamp? = nil, updatedAt: Timestamp
    ) {
        self.name = name
        self.source = source
        self.inbox = inbox
        self.failed = failed
        self.stages = stages
        self.waiting = waiting
        self.paused = paused
        self.pausedSince = pausedSince
        self.updatedAt = updatedAt
    }
}
