package import Files

/// Keeps messages until they are sent, and what was told by whom they are for; and knows what there is to tell. Calls
/// block and may be made from any thread.
package protocol Outbox: Sendable {
    /// Whether this process tells what there is to tell: of several that share an outbox one does, and another once
    /// that one asks no more.
    func mayTell() -> Bool

    /// All that is in it. What cannot be read is removed, and counted.
    func outbox() throws(JournalError) -> (notices: [Notice], standings: [NoticeStanding], unreadable: Int)

    /// Changes it, all or nothing; when it returns that is on the disk, whatever else is not.
    func change(_ change: OutboxChange) throws(JournalError)

    /// What has become of each pipeline's jobs.
    func figures() throws(JournalError) -> [String: Figures]

    /// A pipeline's failures that were over after that time, as far as they are somebody's to look at.
    func failures(of pipeline: String, after time: Timestamp) throws(JournalError) -> RecentFailures

    /// How many failed after that time in all. Looks at all jobs that were over after it.
    func failureCount(of pipeline: String, after time: Timestamp) throws(JournalError) -> UInt64
}

extension Outbox {
    /// Always, where one daemon has it to itself.
    package func mayTell() -> Bool { true }
}
