package import Files

/// A process that writes, or wrote, to a shared journal.
package struct NodeRecord: Sendable, Equatable {
    /// The word that it is known by: another start is another one.
    package let incarnation: String
    /// What people call the node.
    package let name: String
    package let host: String
    package let version: String
    /// Since when, by the database's clock.
    package let since: Timestamp
    /// How much longer its lease holds, by that clock; negative where it is over.
    package let lease: Duration
    package let isDead: Bool
    /// How many jobs are its own that are not over.
    package let jobs: Int
    /// Whether it waits for its name, which another one has that is alive.
    package var isWaiting = false

    /// Whether it may still be at work.
    package var isAlive: Bool { holdsLease && !isWaiting }

    package var holdsLease: Bool { !isDead && lease > .zero }

    package init(
        incarnation: String, name: String, host: String, version: String, since: Timestamp, lease: Duration,
        isDead: Bool, jobs: Int
    ) {
        (self.incarnation, self.name, self.host, self.version) = (incarnation, name, host, version)
        (self.since, self.lease, self.isDead, self.jobs) = (since, lease, isDead, jobs)
    }
}
