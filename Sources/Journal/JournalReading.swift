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

    /// How many jobs each pipeline has in each state, and how many in each stage. A failed job that was sent in again
    /// is not counted: the job that it led to is.
    func counts() throws(JournalError) -> [JobCount]

    /// What is known of each pipeline, by name.
    func pipelines() throws(JournalError) -> [PipelineRecord]

    /// What people hold, by pipeline. A hold whose time is over may still be among it.
    func holds() throws(JournalError) -> [HoldRecord]

    /// The newest changes that people made since that time, newest first, behind the first `skip` of them.
    func audit(since: Timestamp?, limit: Int, skip: Int) throws(JournalError) -> [AuditEntry]
}

extension JournalReading {
    /// The same from the first on.
    package func audit(since: Timestamp?, limit: Int) throws(JournalError) -> [AuditEntry] {
        try audit(since: since, limit: limit, skip: 0)
    }
}
