import Files
package import Journal
import PipelineKit

/// What people hold: on all nodes, and in a table of its own on single ones.
extension PostgresJournal {
    package func change(_ change: HoldChange) throws(JournalError) {
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
            json.hold(hold)
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
        try exchange(lifted + held)
    }
}
