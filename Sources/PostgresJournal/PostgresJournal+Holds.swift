import Files
package import Journal
import PipelineKit

/// What people hold: on all nodes, and in a table of its own on single ones. It ends by the database's clock.
extension PostgresJournal {
    package func holds() throws(JournalError) -> [HoldRecord] {
        let asked = now()
        let rows = try read(
            PostgresQuery(
                """
                SELECT \(Self.clock), value FROM (SELECT pipeline, NULL::text AS node, value FROM holds UNION ALL \
                SELECT pipeline, node, value FROM node_holds) AS held \
                ORDER BY pipeline COLLATE "C", node COLLATE "C" NULLS FIRST
                """))
        let answered = now()
        return try rows.map { found throws(JournalError) in
            var row = found
            let said = Timestamp(nanoseconds: try row.integer())
            let lead = clock.withLock { clock in
                clock.note(said, asked: asked, answered: answered)
                return clock.lead
            }
            return try row.json(\.hold).ending(later: .zero - lead)
        }
    }

    private static let clock = "(extract(epoch FROM clock_timestamp()) * 1000000)::bigint * 1000"

    /// How far the database's clock is ahead.
    func lead() throws(JournalError) -> Duration {
        let asked = now()
        var row = try read(PostgresQuery("SELECT \(Self.clock)")).first
        let said = Timestamp(nanoseconds: try row?.integer() ?? asked.nanoseconds)
        return clock.withLock { clock in
            clock.note(said, asked: asked, answered: now())
            return clock.lead
        }
    }

    package func change(_ change: HoldChange) throws(JournalError) {
        let lead = try change.held.contains { $0.until != nil } ? lead() : .zero
        let lifted = change.lifted.map { hold in
            guard let node = hold.node else {
                return PostgresQuery(
                    "DELETE FROM holds WHERE pipeline = $1 AND since = $2", hold.pipeline, hold.since.nanoseconds)
            }
            return PostgresQuery(
                "DELETE FROM node_holds WHERE pipeline = $1 AND since = $2 AND node = $3", hold.pipeline,
                hold.since.nanoseconds, node)
        }
        let held = change.held.map { hold in
            var json = JSONText()
            json.hold(hold.ending(later: lead))
            guard let node = hold.node else {
                return PostgresQuery(
                    """
                    INSERT INTO holds VALUES ($1, $2, $3) ON CONFLICT (pipeline) DO UPDATE \
                    SET since = excluded.since, value = excluded.value
                    """, hold.pipeline, hold.since.nanoseconds, json.string)
            }
            return PostgresQuery(
                """
                INSERT INTO node_holds (pipeline, since, value, node) VALUES ($1, $2, $3, $4) \
                ON CONFLICT (node, pipeline) DO UPDATE SET since = excluded.since, value = excluded.value
                """, hold.pipeline, hold.since.nanoseconds, json.string, node)
        }
        guard !lifted.isEmpty || !held.isEmpty else { return }
        try exchange(lifted + held)
        tell(.holds)
    }
}
