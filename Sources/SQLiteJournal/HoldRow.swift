import Files
import Journal
import SQLite

/// The rows of the table `holds`.
enum HoldRow {
    static func all(_ db: Connection) throws -> [HoldRecord] {
        let sql = "SELECT pipeline, kind, who, user, since, until, reason FROM holds ORDER BY pipeline"
        return try SQLiteJournal.rows(db, sql) { columns throws(JournalError) in
            columns.subject = "what holds a pipeline"
            let pipeline = try columns.text("pipeline")
            guard let kind = HoldRecord.Kind(rawValue: try columns.text("kind")) else { throw columns.nonsense("kind") }
            let by = try columns.text("who")
            guard let user = UInt32(exactly: try columns.integer("user")) else { throw columns.nonsense("user") }
            return HoldRecord(
                pipeline: pipeline, kind: kind, by: by, user: user, since: try columns.time("since"),
                until: try columns.optionalTime("until"), reason: try columns.text("reason"))
        }
    }

    static func put(_ hold: HoldRecord, in db: Connection) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO holds (pipeline, kind, who, user, since, until, reason)
            VALUES (?, ?, ?, ?, ?, ?, ?)
            """, hold.pipeline, hold.kind.rawValue, hold.by, Int64(hold.user), hold.since.nanoseconds,
            hold.until?.nanoseconds, hold.reason)
    }

    /// Another one may have taken its place.
    static func remove(_ hold: HoldRecord, from db: Connection) throws {
        try db.run(
            "DELETE FROM holds WHERE pipeline = ? AND since = ?", hold.pipeline, hold.since.nanoseconds)
    }
}
