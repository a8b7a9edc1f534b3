package import Files

/// Some of the jobs that match a query, newest first.
package struct JobPage: Sendable {
    package var jobs: [JobRecord]
    /// Down to which time it was looked for them, where older ones may match, too; nil: all are found, or the limit was
    /// reached.
    package var horizon: Timestamp?

    package init(jobs: [JobRecord], horizon: Timestamp? = nil) { (self.jobs, self.horizon) = (jobs, horizon) }
}
