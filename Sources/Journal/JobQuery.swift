package import Files
package import PipelineKit
package import SystemPackage

/// Which jobs are wanted.
package struct JobQuery: Sendable, Hashable {
    /// Only in these states; empty: any.
    package var states: [JobRecord.State] = []
    /// Of those that failed only such as were cancelled, or only others; nil: both.
    package var isCancelled: Bool?
    /// Only of this pipeline.
    package var pipeline: String?
    /// Only of drops by this one.
    package var producer: String?
    /// Only those whose id begins with this.
    package var idPrefix: String?
    /// Only drops of exactly this name.
    package var name: FileName?
    /// Only those whose folder has this name, which is not their id.
    package var slot: JobID?
    /// Only drops whose name matches; whose path in the inbox does, where the pattern has a `/`.
    package var pattern: Glob?
    /// Only claimed at or after this time.
    package var since: Timestamp?
    /// Only claimed before this time.
    package var until: Timestamp?
    /// Only those that were over at or after this time.
    package var finishedSince: Timestamp?
    /// Only those whose failure has this code.
    package var code: String?
    /// Only those whose failure, if there is one, has another code.
    package var otherThan: String?
    /// Only failures that are open: neither sent in again nor dismissed.
    package var isOpen = false
    /// Only those whose original is there.
    package var original: FilePath?
    /// Only retries of this job.
    package var retryOf: JobID?
    /// Only replays of this job.
    package var replayOf: JobID?
    /// Only finished jobs that left one of these: the original, an output, or a sidecar. Scans every row. Empty: any.
    package var left: [FilePath] = []
    /// The most jobs to return.
    package var limit: Int?
    /// Whether those come first that were claimed first.
    package var isOldestFirst = false

    /// All jobs.
    package init() {}

    /// Whether a job is one of them, but that a failure was sent in again its record does not say.
    package func matches(_ job: JobRecord) -> Bool {
        (states.isEmpty || states.contains(job.state))
            && (job.state != .failed || isCancelled.map { $0 == job.isCancelled } ?? true)
            && pipeline.map { $0 == job.pipeline } ?? true
            && producer.map { $0 == job.producer } ?? true
            && idPrefix.map { job.id.text.hasPrefix($0) } ?? true
            && name.map { $0 == job.drop.name } ?? true
            && slot.map { $0 == job.slot } ?? true
            && matchesPattern(job.drop)
            && since.map { $0 <= job.claimedAt } ?? true
            && until.map { $0 > job.claimedAt } ?? true
            && finishedSince.map { limit in job.finishedAt.map { $0 >= limit } ?? false } ?? true
            && code.map { $0 == job.failure?.code } ?? true
            && otherThan.map { $0 != job.failure?.code } ?? true
            && (!isOpen || job.hasFailed && job.dismissed == nil)
            && original.map { $0 == job.original } ?? true
            && retryOf.map { $0 == job.retryOf } ?? true
            && replayOf.map { $0 == job.replayOf } ?? true
            && (left.isEmpty || job.state.isFinal && left.contains { job.outputs.contains($0) || job.original == $0 })
    }

    /// What it chooses among jobs in these states; nil where it can choose none.
    package func among(_ states: [JobRecord.State]) -> JobQuery? {
        var query = self
        query.states = self.states.isEmpty ? states : self.states.filter(states.contains)
        return query.states.isEmpty ? nil : query
    }

    private func matchesPattern(_ drop: Drop) -> Bool {
        guard let pattern else { return true }
        return pattern.pattern.contains("/") ? pattern.matches(drop.path.bytes) : pattern.matches(drop.name)
    }
}
