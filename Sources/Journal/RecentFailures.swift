package import Files

/// Failures of a pipeline after some time.
package struct RecentFailures: Sendable, Equatable {
    /// Those that were neither sent in again nor dismissed.
    package var open: UInt64 = 0
    /// Those that were sent in again, where that is not over.
    package var retrying: UInt64 = 0
    /// The open one that failed last, and when the last of all open ones of the pipeline did.
    package var newest: JobRecord?
    package var last: Timestamp?

    package init() {}
}
