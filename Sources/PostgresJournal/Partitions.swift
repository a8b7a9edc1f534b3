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
                _ = try journal.commits.query(
                    PostgresQuery(
                        "SELECT make_day_1($1, $2, $3)", name(of: begin), JobID.first(at: begin).text,
                        JobID.first(at: end).text))
            } catch {
                // Jobs of that day are in the last one by now, and stay there.
                if case .refused(PostgresState.overlaps, _) = error { continue }
                throw JournalError(error, "write", journal.place)
            }
        }
    }

    /// Drops one that is empty and over; false where there is none.
    static func dropEmpty(_ journal: PostgresJournal, at now: Timestamp) throws(JournalError) -> Bool {
        let before = name(of: Timestamp(nanoseconds: now.nanoseconds - 2 * day))
        var row = try journal.ask("write", journal.commits, PostgresQuery("SELECT drop_day_1($1)", before)).first
        return try row?.flag() ?? false
    }

    private static func name(of day: Timestamp) -> String { "history_" + day.formatted("%Y%m%d", utc: true) }
}
