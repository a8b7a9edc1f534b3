import Files
package import Journal

/// What one node does for all. A row says which, with a time: a lock of a session would stay with a node that sleeps as
/// long as its connection does, and whoever pools connections has no sessions.
extension PostgresJournal {
    /// For how long it is a node's that does not ask again.
    private static let time = "1 minute"

    package func mayTell() -> Bool { takes("notifications") }

    package func mayForget() -> Bool { takes("history") }

    package func mayRemove(from folder: KeptFolder) -> Bool { takes("\(folder.place) of \(folder.pipeline)") }

    /// For how long the lead in listing an inbox is: its node asks again within that.
    private static let leadTime = "6 seconds"

    package func takeLead(of pipeline: String, isWanted: Bool) throws(JournalError) -> Bool {
        try takes("scan of \(pipeline)", for: isWanted ? Self.leadTime : "0", turns)
    }

    /// Whether that is this node's to do.
    func takes(_ duty: String) -> Bool { (try? takes(duty, for: Self.time, commits)) ?? false }

    private func takes(
        _ duty: String, for time: String, _ connection: PostgresConnection
    ) throws(JournalError) -> Bool {
        guard let incarnation, mayAct else { return false }
        let rows = try ask(
            "write", connection,
            PostgresQuery(
                """
                INSERT INTO duties AS d SELECT $1, $2, clock_timestamp() + $3::interval \
                WHERE EXISTS (SELECT FROM nodes WHERE incarnation = $2 AND dead_at IS NULL) \
                ON CONFLICT (name) DO UPDATE SET incarnation = excluded.incarnation, until = excluded.until \
                WHERE d.incarnation = excluded.incarnation OR d.until <= clock_timestamp() \
                OR NOT EXISTS (SELECT FROM nodes n WHERE n.incarnation = d.incarnation AND dead_at IS NULL \
                AND lease_until > clock_timestamp()) RETURNING name
                """, duty, incarnation.id, time))
        return !rows.isEmpty
    }
}
