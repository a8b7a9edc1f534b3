import Files
package import Journal

extension PostgresJournal {
    /// Bytes of arguments and characters of results that are kept.
    private static let longest = 4096

    package func beginAudit(_ entry: AuditEntry) throws(JournalError) -> Int64 {
        let rows = try once(
            PostgresQuery(
                """
                INSERT INTO audit (at, "user", name, verb, arguments, result, token, role, address) \
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING number
                """, entry.at.nanoseconds, Int64(entry.user), entry.name, entry.verb,
                AuditEntry.shortened(entry.arguments, toBytes: Self.longest), entry.result, entry.behalf?.name,
                entry.behalf?.role, entry.behalf?.address))
        var row = rows.first
        return try row?.integer() ?? 0
    }

    package func endAudit(_ number: Int64, result: String) throws(JournalError) {
        try exchange([
            PostgresQuery(
                "UPDATE audit SET result = $1 WHERE number = $2", String(result.prefix(Self.longest)), number)
        ])
    }

    package func audit(_ query: AuditQuery) throws(JournalError) -> [AuditEntry] {
        var (terms, values) = (["at >= $1"], [query.since?.nanoseconds ?? 0] as [(any PostgresValue)?])
        func add(_ value: (any PostgresValue)?, _ term: (String) -> String) {
            guard let value else { return }
            values.append(value)
            terms.append(term("$\(values.count)"))
        }
        add(query.before) { "number < \($0)" }
        add(query.user) { "(name = \($0) OR token = \($0) OR \"user\"::text = \($0))" }
        add(query.verb) { "verb = \($0)" }
        add(query.with) { "strpos(arguments, \($0)) > 0" }
        add(query.without) { "strpos(arguments, \($0)) = 0" }
        add(query.text) {
            "strpos(lower(concat_ws(E'\\n', verb, arguments, result, token, role, address)), lower(\($0))) > 0"
        }
        values.append(query.limit)
        let rows = try read(
            PostgresQuery(
                """
                SELECT at, "user", name, verb, arguments, result, token, role, address, number FROM audit \
                WHERE \(terms.joined(separator: " AND ")) ORDER BY number DESC LIMIT $\(values.count)
                """, values))
        return try rows.map { found throws(JournalError) in
            var row = found
            // In the order of the columns.
            var entry = AuditEntry(
                at: Timestamp(nanoseconds: try row.integer()), user: UInt32(truncatingIfNeeded: try row.integer()),
                name: try row.text(), verb: try row.text(), arguments: try row.text(), result: row.optionalText())
            let (token, role, address) = (row.optionalText(), row.optionalText(), row.optionalText())
            entry.behalf = token.map { Behalf(name: $0, role: role ?? "", address: address ?? "") }
            entry.number = try row.integer()
            return entry
        }
    }
}
