package import Files
package import Journal
import SQLite

extension SQLiteJournal: AuditTrail {
    /// Bytes of arguments and characters of results that are kept.
    private static let longest = 4096

    package func beginAudit(_ entry: AuditEntry) throws(JournalError) -> Int64 {
        try write { db in
            try db.run(
                "INSERT INTO audit (at, user, name, verb, arguments, result) VALUES (?, ?, ?, ?, ?, ?)",
                entry.at.nanoseconds, Int64(entry.user), entry.name, entry.verb,
                AuditEntry.shortened(entry.arguments, toBytes: Self.longest), entry.result)
            return db.lastInsertedRow
        }
    }

    package func endAudit(_ number: Int64, result: String) throws(JournalError) {
        try write { db in
            try db.run("UPDATE audit SET result = ? WHERE number = ?", String(result.prefix(Self.longest)), number)
        }
    }

    package func audit(since: Timestamp?, limit: Int, skip: Int) throws(JournalError) -> [AuditEntry] {
        try read { db in
            let sql = """
                SELECT at, user, name, verb, arguments, result FROM audit WHERE at >= ?
                ORDER BY number DESC LIMIT ? OFFSET ?
                """
            return try Self.rows(db, sql, Parameters([since?.nanoseconds ?? 0, limit, skip])) {
                columns throws(JournalError) in
                columns.subject = "the record of a change"
                return AuditEntry(
                    at: try columns.time("at"), user: UInt32(truncatingIfNeeded: try columns.integer("user")),
                    name: try columns.text("name"), verb: try columns.text("verb"),
                    arguments: try columns.text("arguments"), result: try columns.optionalText("result"))
            }
        }
    }
}
