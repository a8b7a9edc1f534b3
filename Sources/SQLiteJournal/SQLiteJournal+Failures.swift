package import Files
package import Journal
import SQLite

/// Open failures in groups. What is read does not grow with the number of jobs: counts are kept, and of each group's
/// jobs the newest are looked at.
extension SQLiteJournal {
    package func failureGroups(
        of pipeline: String?, since time: Timestamp?, at now: Timestamp
    ) throws(JournalError) -> FailureGroups {
        let start = time.map { FailureGroup.hour(of: $0) }
        return try read { db in
            let all = try Self.counts(db, of: pipeline, since: start)
            let groups = try all.prefix(FailureGroups.most).compactMap { counted in
                try Self.group(counted, db, since: start, at: now)
            }
            return FailureGroups(total: all.reduce(0) { $0 + $1.jobs }, groups: groups)
        }
    }

    private struct Counted {
        let pipeline: String
        let code: String
        let jobs: Int
        let bytes: Int64
    }

    /// The largest first. Sizes may add up to more than there are numbers for, which `total` takes.
    private static func counts(_ db: Connection, of pipeline: String?, since hour: Int64?) throws -> [Counted] {
        let sql = """
            SELECT pipeline, code, sum(jobs), CAST(total(bytes) AS INTEGER) FROM failures
            WHERE hour >= ?1 AND (?2 IS NULL OR pipeline = ?2) GROUP BY 1, 2 HAVING sum(jobs) > 0 ORDER BY 3 DESC, 1, 2
            """
        var values = Parameters()
        values.integer(hour ?? .min)
        values.text(pipeline)
        return try rows(db, sql, values) { columns throws(JournalError) in
            columns.subject = "a count of failures"
            return Counted(
                pipeline: try columns.text("pipeline"), code: try columns.text("code"),
                jobs: Int(clamping: try columns.integer("jobs")), bytes: try columns.integer("bytes"))
        }
    }

    private static func group(
        _ counted: Counted, _ db: Connection, since start: Int64?, at now: Timestamp
    ) throws -> FailureGroup? {
        let key = "open IS NOT NULL AND pipeline = ? AND code = ?"
        let since = start.map { $0.multipliedSaturated(by: FailureGroup.nanosecondsOfAnHour) } ?? .min
        func end(_ order: String) throws -> Int64? {
            try db.first(
                "SELECT open FROM jobs WHERE \(key) AND open >= ? ORDER BY open \(order) LIMIT 1", counted.pipeline,
                counted.code, since)?.first?.integer
        }
        guard let first = try end("ASC"), let last = try end("DESC") else { return nil }
        let hours = try db.all(
            "SELECT hour, jobs FROM failures WHERE pipeline = ? AND code = ? AND hour > ?", counted.pipeline,
            counted.code, FailureGroup.hour(of: now) - 24
        ).compactMap { row in row.first?.integer.flatMap { hour in row.last?.integer.map { (hour, Int(clamping: $0)) } }
        }
        var values = Parameters([counted.pipeline, counted.code])
        values.integer(since)
        let newest = try records(
            db,
            "\(JobRow.select) WHERE \(key) AND open >= ? ORDER BY open DESC, id DESC LIMIT \(FailureSentence.mostRead)",
            values)
        return FailureGroup(
            newest, pipeline: counted.pipeline, code: counted.code, jobs: counted.jobs, bytes: counted.bytes,
            first: Timestamp(nanoseconds: first), last: Timestamp(nanoseconds: last),
            hours: Dictionary(hours) { first, _ in first }, at: now)
    }
}
