import Files
import Journal
import PipelineKit

/// The days of the history: each is a table, and is dropped once nothing is in it any more.
enum Partitions {
    /// For how many days there are tables.
    private static let ahead = 7
    private static let day: Int64 = 86_400_000_000_000

    /// Makes those of the next days that are missing.
    static func make(_ journal: PostgresJournal, at now: Timestamp) throws(JournalError) {
        for number in 0..<Int64(ahead) {
            let begin = Timestamp(nanoseconds: (now.nanoseconds / day + number) * day)
            let end = Timestamp(nanoseconds: begin.nanoseconds + day)
            do throws(PostgresError) {
                _ = try journal.commits.exchange([
                    turn,
                    PostgresQuery(
                        """
                        CREATE TABLE IF NOT EXISTS \(name(of: begin)) PARTITION OF history \
                        FOR VALUES FROM ('\(JobID.first(at: begin).text)') TO ('\(JobID.first(at: end).text)')
                        """),
                ])
            } catch {
                // Jobs of that day are in the last one by now, and stay there.
                if case .refused(PostgresState.overlaps, _) = error { continue }
                throw JournalError(error, "write", journal.place)
            }
        }
    }

    /// Drops one that is empty and over; false where there is none.
    static func dropEmpty(_ journal: PostgresJournal, at now: Timestamp) throws(JournalError) -> Bool {
        let rows = try journal.read(
            PostgresQuery(
                """
                SELECT relname FROM pg_class JOIN pg_inherits ON inhrelid = oid \
                WHERE inhparent = 'history'::regclass AND relname < $1 ORDER BY 1
                """, name(of: Timestamp(nanoseconds: now.nanoseconds - 2 * day))))
        for found in rows {
            var row = found
            let name = try row.text()
            let isFull = try journal.read(PostgresQuery("SELECT FROM \(name) LIMIT 1")).count > 0
            if isFull { continue }
            let isGone = try journal.change { ask in
                _ = try ask(turn)
                _ = try ask(PostgresQuery("LOCK TABLE \(name) IN ACCESS EXCLUSIVE MODE"))
                // Somebody may have written to it meanwhile.
                guard try ask(PostgresQuery("SELECT FROM \(name) LIMIT 1")).isEmpty else { return false }
                _ = try ask(PostgresQuery("DROP TABLE \(name)"))
                return true
            }
            if isGone { return true }
        }
        return false
    }

    private static let turn = PostgresQuery(
        "SELECT pg_advisory_xact_lock($1, $2)", Schema.lock, Schema.Turn.partitions.rawValue)

    private static func name(of day: Timestamp) -> String { "history_" + day.formatted("%Y%m%d", utc: true) }
}
