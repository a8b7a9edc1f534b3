package import PipelineKit
package import SystemPackage

/// Which jobs are wanted.
package struct JobQuery: Sendable, Hashable {
    /// Only in these states; empty: any.
    package var states: [JobRecord.State] = []
    /// Only of this pipeline.
    package var pipeline: String?
    /// Only those whose id begins with this.
    package var idPrefix: String?
    /// Only drops of exactly this name.
    package var name: FileName?
    /// Only claimed at or after this time.
    package var since: Timestamp?
    /// Only retries of this job.
    package var retryOf: JobID?
    /// Only finished jobs that left one of these: the original, an output, or a sidecar. Scans every row. Empty: any.
    package var left: [FilePath] = []
    /// The most jobs to return.
    package var limit: Int?

    /// All jobs.
    package init() {}
}
