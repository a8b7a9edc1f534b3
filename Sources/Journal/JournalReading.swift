package import Files
package import PipelineKit

/// What is known about jobs, for whoever only looks: the journal itself, or a daemon that tells what is in it. Calls
/// block and may be made from any thread.
package protocol JournalReading: Sendable {
    /// The latest run, whether it has ended or not; nil where there was none.
    func lastRun() throws(JournalError) -> RunRecord?

    /// Every unfinished job, oldest first.
    func unfinished() throws(JournalError) -> [JobRecord]

    /// One job, or nil.
    func job(_ id: JobID) throws(JournalError) -> JobRecord?

    /// Jobs that match, newest first.
    func jobs(_ query: JobQuery) throws(JournalError) -> [JobRecord]

    /// The same, by a look at only so many that takes no longer however many jobs there are.
    func page(_ query: JobQuery) throws(JournalError) -> JobPage

    /// How many jobs each pipeline has in each state, and how many in each stage. A failed job that was sent in again
    /// is not counted: the job that it led to is. Nor is one that was dismissed.
    func counts() throws(JournalError) -> [JobCount]

    /// Failures that are open, in groups. `pipeline`: only those of this one; `time`: only those that failed since the
    /// beginning of its hour.
    func failureGroups(
        of pipeline: String?, since time: Timestamp?, at now: Timestamp
    ) throws(JournalError) -> FailureGroups

    /// What is known of each pipeline, by name.
    func pipelines() throws(JournalError) -> [PipelineRecord]

    /// Which node it is whose pipelines are told of alone, where several share the journal; else nil.
    func tellingNode() throws(JournalError) -> String?

    /// What people hold, by pipeline. A hold whose time is over may still be among it.
    func holds() throws(JournalError) -> [HoldRecord]

    /// Changes that people made, newest first.
    func audit(_ query: AuditQuery) throws(JournalError) -> [AuditEntry]
}

extension JournalReading {
    package func tellingNode() throws(JournalError) -> String? { nil }

    package func page(_ query: JobQuery) throws(JournalError) -> JobPage { JobPage(jobs: try jobs(query)) }

    /// All of them since that time.
    package func audit(since: Timestamp?, limit: Int) throws(JournalError) -> [AuditEntry] {
        try audit(AuditQuery(since: since, limit: limit))
    }
}
