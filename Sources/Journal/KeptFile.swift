package import Files
package import PipelineKit
package import SystemPackage

/// An original that a job has left in a folder, and that is to go some day.
package struct KeptFile: Sendable, Equatable {
    package let job: JobID
    /// When its job ended.
    package let since: Timestamp
    /// Of a folder: of all that was in it.
    package let bytes: Int64
    package let path: FilePath
    package let state: OriginalState
    /// Why it is being removed; nil where it is not.
    package var rule: String?

    package init(
        _ job: JobID, since: Timestamp, bytes: Int64, path: FilePath, _ state: OriginalState, rule: String? = nil
    ) {
        (self.job, self.since, self.bytes, self.path) = (job, since, bytes, path)
        (self.state, self.rule) = (state, rule)
    }

    /// Its place among others of its folder, the oldest first.
    package var place: ExpiredJob { ExpiredJob(job, at: since) }
}
