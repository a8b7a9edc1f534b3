import Files
package import Journal
import SQLite

extension SQLiteJournal: AuditTrail {
    /// Bytes of arguments and characters of results that are kept.
    private static let longest = 4096

    package func beginAudit(_ entry: AuditEntry) throws(JournalError) -> Int64 {
        try write { db in
            try db.run(
                """
                INSERT INTO audit (at, user, name, verb, arguments, result, token, role, address) \
                VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
                """, entry.at.nanoseconds, Int64(entry.user), entry.name, entry.verb,
                AuditEntry.shortened(entry.arguments, toBytes: Self.longest), entry.result, entry.behalf?.name,
                entry.behalf?.role, entry.behalf?.address)
            return db.lastInsertedRow
        }
    }

    package func endAudit(_ number: Int64, result: String) throws(JournalError) {
        try write { db in
            try db.run("UPDATE audit SET result = ? WHERE number = ?", String(result.prefix(Self.longest)), number)
        }
    }

    package func audit(_ query: AuditQuery) throws(JournalError) -> [AuditEntry] {
        var conditions = ["at >= ?"]
        var arguments = Parameters()
        arguments.integer(query.since?.nanoseconds ?? 0)
        if let before = query.before {
            conditions.append("number < ?")
            arguments.integer(before)
        }
        if let user = query.user {
            conditions.append("(name = ? OR token = ? OR user = ?)")
            arguments.text(user)
            arguments.text(user)
            arguments.integer(UInt32(user).map { Int64($0) } ?? -1)
        }
        if let verb = query.verb {
            conditions.append("verb = ?")
            arguments.text(verb)
        }
        if let text = query.with {
            conditions.append("instr(arguments, ?) > 0")
            arguments.text(text)
        }
        if let text = query.without {
            conditions.append("instr(arguments, ?) = 0")
            arguments.text(text)
        }
        if let text = query.text {
            let all = ["verb", "arguments", "result", "token", "role", "address"].map { "coalesce(\($0), '')" }
            conditions.append("instr(lower(\(all.joined(separator: " || char(10) || "))), lower(?)) > 0")
            arguments.text(text)
        }
        arguments.integer(query.limit)
        let sql = """
            SELECT at, user, name, verb, arguments, result, token, role, address, number FROM audit
            WHERE \(conditions.joined(separator: " AND ")) ORDER BY number DESC LIMIT ?
            """
        return try read { [sql, arguments] db in
            try Self.rows(db, sql, arguments) { columns throws(JournalError) in
                columns.subject = "the record of a change"
                // In the order of the columns.
                var entry = AuditEntry(
                    at: try columns.time("at"), user: UInt32(truncatingIfNeeded: try columns.integer("user")),
                    name: try columns.text("name"), verb: try columns.text("verb"),
                    arguments: try columns.text("arguments"), result: try columns.optionalText("result"))
                let (token, role) = (try columns.optionalText("token"), try columns.optionalText("role"))
                let address = try columns.optionalText("address")
                entry.behalf = token.map { Behalf(name: $0, role: role ?? "", address: address ?? "") }
                entry.number = try columns.integer("number")
                return entry
            }
        }
    }
}
