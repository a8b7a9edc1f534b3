package import Files

/// Which changes are wanted, newest first.
package struct AuditQuery: Equatable, Sendable {
    /// Only those made since then.
    package var since: Timestamp?
    /// Only those with lower numbers.
    package var before: Int64?
    /// Only by the user with this name or number, or for whom this is the name.
    package var user: String?
    package var verb: String?
    /// Only with arguments that have the one text in them, and not the other.
    package var with: String?
    package var without: String?
    /// Only those in whose verb, arguments or result this occurs, or in what is known of who it was for.
    package var text: String?
    /// How many at most.
    package var limit: Int

    package init(since: Timestamp? = nil, before: Int64? = nil, limit: Int) {
        (self.since, self.before, self.limit) = (since, before, limit)
    }
}
