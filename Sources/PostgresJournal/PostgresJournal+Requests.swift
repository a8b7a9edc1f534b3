package import Journal
package import PipelineKit

/// What is asked of other nodes, which they answer here.
extension PostgresJournal {
    package func ask(
        _ lines: [(incarnation: String, line: String)], by name: String, user: UInt32
    ) throws(JournalError) -> [Int64?] {
        let left = PostgresQuery(
            """
            DELETE FROM requests r WHERE at < clock_timestamp() - interval '10 minutes' \
            OR NOT EXISTS (SELECT FROM nodes n WHERE n.incarnation = r.node AND dead_at IS NULL)
            """)
        let asked = lines.map { incarnation, line in
            PostgresQuery(
                """
                INSERT INTO requests (node, "user", name, line) SELECT $1, $2, $3, $4 \
                WHERE EXISTS (SELECT FROM nodes WHERE incarnation = $1 AND dead_at IS NULL) RETURNING number
                """, incarnation, Int64(user), name, line)
        }
        let answers: [[PostgresRow]]
        do throws(PostgresError) {
            // Not twice.
            answers = try commits.exchange([left] + asked)
        } catch {
            throw JournalError(error, "write", place)
        }
        let numbers = try answers.dropFirst().map { rows throws(JournalError) in
            var row = rows.first
            return try row?.integer()
        }
        if numbers.contains(where: { $0 != nil }) { tell(.requests) }
        return numbers
    }

    /// What is older than a minute nobody waits for any more.
    package func takeRequests() throws(JournalError) -> [NodeRequest] {
        guard let incarnation else { throw isForReading }
        let rows = try read(
            PostgresQuery(
                """
                UPDATE requests SET is_taken = true WHERE node = $1 AND NOT is_taken \
                AND at > clock_timestamp() - interval '1 minute' RETURNING number, line, name, "user"
                """, incarnation.id))
        let requests = try rows.map { found throws(JournalError) in
            var row = found
            return NodeRequest(
                number: try row.integer(), line: try row.text(), by: try row.text(),
                user: UInt32(truncatingIfNeeded: try row.integer()))
        }
        return requests.sorted { $0.number < $1.number }
    }

    package func answer(_ request: Int64, with line: String) throws(JournalError) {
        try exchange([PostgresQuery("UPDATE requests SET answer = $1 WHERE number = $2", line, request)])
    }

    package func standings(of requests: [Int64]) throws(JournalError) -> [Int64: NodeRequest.Standing] {
        try standings(
            "SELECT \(Self.standing) FROM requests r LEFT JOIN nodes n ON n.incarnation = r.node "
                + "WHERE number = ANY ($1::bigint[])", requests)
    }

    package func withdraw(_ requests: [Int64]) throws(JournalError) -> [Int64: NodeRequest.Standing] {
        try standings(
            "WITH r AS (DELETE FROM requests WHERE number = ANY ($1::bigint[]) RETURNING *) "
                + "SELECT \(Self.standing) FROM r LEFT JOIN nodes n ON n.incarnation = r.node", requests)
    }

    private static let standing = "number, is_taken, answer, coalesce(n.dead_at IS NOT NULL, true)"

    private func standings(
        _ sql: String, _ requests: [Int64]
    ) throws(JournalError) -> [Int64: NodeRequest.Standing] {
        let rows = try ask("read", commits, PostgresQuery(sql, PostgresColumn(requests)))
        let found = try rows.map { found throws(JournalError) in
            var row = found
            let number = try row.integer()
            let isTaken = try row.flag()
            let answer = row.optionalText()
            return (number, NodeRequest.Standing(isTaken: isTaken, answer: answer, isDead: try row.flag()))
        }
        return Dictionary(found) { first, _ in first }
    }

    package func holders(of jobs: [JobID]) throws(JournalError) -> [JobID: String] {
        let rows = try read(
            PostgresQuery(
                "SELECT id, node FROM unfinished WHERE id = ANY ($1::text[])", PostgresColumn(jobs.map(\.text))))
        let found = try rows.map { found throws(JournalError) in
            var row = found
            return (try row.id(), try row.text())
        }
        return Dictionary(found) { first, _ in first }
    }
}
