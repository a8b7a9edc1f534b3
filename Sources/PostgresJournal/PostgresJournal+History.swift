package import Files
package import Journal
package import PipelineKit
import SystemPackage

/// What goes from the history, and the figures that stay.
extension PostgresJournal {
    package func expired(
        _ limits: HistoryLimits?, after last: ExpiredJob?, limit: Int
    ) throws(JournalError) -> [ExpiredJob] {
        var terms = ["finished_at IS NOT NULL"]
        var values: [(any PostgresValue)?] = [limit]
        if let last {
            values += [last.at.nanoseconds, last.id.text]
            terms.append("(finished_at, id) > ($2, $3)")
        }
        if let limits {
            let first = values.count
            let times = [limits.processed, limits.cancelled, limits.failed]
            values += [Failure.cancelCode, Failure.releaseCode]
            values += times.map(\.nanoseconds) as [Int64]
            values += times.map { JobID.first(at: $0).text } as [String]
            func kind(_ place: Int) -> String {
                "CASE WHEN state = 'processed' THEN $\(first + place) WHEN state = 'failed' AND code IN "
                    + "($\(first + 1), $\(first + 2)) THEN $\(first + place + 1) ELSE $\(first + place + 2) END"
            }
            values.append(limits.latest.nanoseconds)
            terms += [
                "finished_at < $\(values.count)", "finished_at < (\(kind(3)))::bigint", "id < (\(kind(6)))",
            ]
        }
        let rows = try read(
            PostgresQuery(
                "SELECT id, finished_at FROM history WHERE \(terms.joined(separator: " AND ")) "
                    + "ORDER BY finished_at, id LIMIT $1", values))
        return try rows.map { found throws(JournalError) in
            var row = found
            return ExpiredJob(try row.id(), at: Timestamp(nanoseconds: try row.integer()))
        }
    }

    package func remove(_ jobs: [JobID], noting archived: ArchiveNote?) throws(JournalError) -> Int {
        let ids = PostgresColumn(jobs.map(\.text))
        let folders = kept.withLock { $0 }
        let roots = folders.isEmpty ? [:] : try roots()
        return try change { ask in
            if !folders.isEmpty {
                let rows = try ask(PostgresQuery("\(KeptRows.select) WHERE id = ANY ($1::text[])", ids))
                for one in try KeptRows.found(rows, in: folders, roots).found { try KeptRows.add(one, roots, ask) }
            }
            // They are counted before they go.
            _ = try ask(
                PostgresQuery("SELECT pg_advisory_xact_lock($1, $2)", Schema.lock, Schema.Turn.counting.rawValue))
            _ = try Self.sum(PostgresQuery("SELECT id FROM unsummed WHERE id = ANY ($1::text[])", ids), ask)
            _ = try ask(
                PostgresQuery(
                    """
                    UPDATE contents c SET over = true FROM history h \
                    WHERE c.job = ANY ($1::text[]) AND h.id = c.job AND h.state = 'processed'
                    """, ids))
            _ = try ask(
                PostgresQuery(
                    """
                    DELETE FROM contents c USING history h \
                    WHERE c.job = ANY ($1::text[]) AND h.id = c.job AND h.state IN ('failed', 'lost')
                    """, ids))
            let gone = try ask(
                PostgresQuery("DELETE FROM history WHERE id = ANY ($1::text[]) RETURNING id", ids))
            if let archived { _ = try ask(self.note(archived)) }
            return gone.count
        }
    }

    package func removeNotes(
        content: Timestamp, others: Timestamp, limit: Int
    ) throws(JournalError) -> Int {
        try sumTotals()
        let rows = try again("write") { () throws(PostgresError) in
            try commits.exchange([
                PostgresQuery(
                    """
                    WITH gone AS (DELETE FROM nodes WHERE dead_at < clock_timestamp() - interval '30 days' \
                    AND NOT EXISTS (SELECT FROM unfinished u WHERE u.node = incarnation) RETURNING incarnation) \
                    DELETE FROM turns USING gone WHERE turns.incarnation = gone.incarnation
                    """),
                PostgresQuery(
                    """
                    DELETE FROM retries r WHERE at < $1 OR NOT EXISTS (SELECT FROM history h WHERE h.id = r.job) \
                    AND NOT EXISTS (SELECT FROM unfinished u WHERE u.id = r.job)
                    """, others.nanoseconds),
                PostgresQuery(
                    """
                    DELETE FROM audit WHERE number IN (SELECT number FROM audit WHERE at < $1 LIMIT $2) \
                    RETURNING number
                    """, others.nanoseconds, limit),
                PostgresQuery(
                    """
                    DELETE FROM contents WHERE (content, job) IN \
                    (SELECT content, job FROM contents WHERE at < $1 ORDER BY at LIMIT $2) RETURNING job
                    """, content.nanoseconds, limit),
            ])
        }
        return rows.reduce(0) { $0 + $1.count }
    }

    package func archived() throws(JournalError) -> ArchiveNote? {
        let rows = try read(
            PostgresQuery("SELECT path, folder, inode, length, is_open FROM archives WHERE node = $1", node))
        return try rows.first.map { found throws(JournalError) in
            var row = found
            return ArchiveNote(
                FilePath(bytes: try row.bytes()), folder: UInt64(bitPattern: try row.integer()),
                inode: UInt64(bitPattern: try row.integer()), length: max(0, try row.integer()),
                isOpen: try row.flag())
        }
    }

    package func note(archived: ArchiveNote) throws(JournalError) { try exchange([note(archived)]) }

    private func note(_ note: ArchiveNote) -> PostgresQuery {
        PostgresQuery(
            """
            INSERT INTO archives (node, path, folder, inode, length, is_open) VALUES ($1, $2, $3, $4, $5, $6) \
            ON CONFLICT (node) DO UPDATE SET path = excluded.path, folder = excluded.folder, \
            inode = excluded.inode, length = excluded.length, is_open = excluded.is_open
            """, node, Array(note.path.bytes), Int64(bitPattern: note.folder), Int64(bitPattern: note.inode),
            note.length, note.isOpen)
    }

    package func finishedCount() throws(JournalError) -> Int {
        var row = try read(PostgresQuery("SELECT count(*) FROM history WHERE finished_at IS NOT NULL")).first
        return Int(clamping: try row?.integer() ?? 0)
    }

    /// On the server. What is free there it uses again by itself.
    package func room() throws(JournalError) -> JournalRoom {
        var row = try read(
            PostgresQuery(
                """
                SELECT coalesce(sum(pg_total_relation_size(oid)), 0)::bigint FROM pg_class \
                WHERE relnamespace = current_schema()::regnamespace AND relkind = 'r'
                """)
        ).first
        return JournalRoom(used: try row?.integer() ?? 0, free: 0, isElastic: true)
    }

    /// Drops a day of history that nothing is in any more.
    package func giveBack() throws(JournalError) -> Bool {
        guard incarnation != nil else { return false }
        try Partitions.make(self, at: .now())
        return try Partitions.dropEmpty(self, at: .now())
    }

    // MARK: Figures

    package func figures() throws(JournalError) -> [String: Figures] {
        if incarnation != nil {
            let summed = try change(on: readings) { ask -> [String: Figures]? in
                // Another node may be at it.
                var row = try ask(
                    PostgresQuery(
                        "SELECT pg_try_advisory_xact_lock($1, $2)", Schema.lock, Schema.Turn.counting.rawValue)
                ).first
                guard try row?.flag() ?? false else { return nil }
                return try Self.sum(PostgresQuery("SELECT id FROM unsummed LIMIT 10000"), ask)
            }
            if let summed { return summed }
        }
        let others = try records(
            PostgresQuery(
                "\(JobColumns.select) WHERE id IN (SELECT id FROM unsummed) AND state IN "
                    + "('processed', 'failed', 'lost')"
            ))
        return Self.add(others, to: try Self.figures(read(PostgresQuery("SELECT pipeline, value FROM figures"))))
    }

    /// Adds jobs that are over to the figures, for whoever has the lock. `wanted`: which.
    private static func sum(
        _ wanted: PostgresQuery, _ ask: (PostgresQuery) throws(PostgresError) -> [PostgresRow]
    ) throws -> [String: Figures] {
        let found = try ask(
            PostgresQuery(
                """
                WITH gone AS (DELETE FROM unsummed WHERE id IN (\(wanted.sql)) RETURNING id) \
                SELECT record, name, producer, claimed_at, retry_of, replay_of, dismissed \
                FROM history JOIN gone USING (id)
                """, wanted.values))
        let before = try figures(try ask(PostgresQuery("SELECT pipeline, value FROM figures")))
        let jobs = try found.map { row in try JobColumns.record(row) }
        let after = add(jobs, to: before)
        for (pipeline, figures) in after where before[pipeline] != figures {
            _ = try ask(
                PostgresQuery(
                    "INSERT INTO figures VALUES ($1, $2) ON CONFLICT (pipeline) DO UPDATE SET value = excluded.value",
                    pipeline, figures.json))
        }
        return after
    }

    private static func figures(_ rows: [PostgresRow]) throws(JournalError) -> [String: Figures] {
        let all = try rows.map { found throws(JournalError) in
            var row = found
            return (try row.text(), Figures(json: try row.text()) ?? Figures())
        }
        return Dictionary(all) { first, _ in first }
    }

    private static func add(_ jobs: [JobRecord], to figures: [String: Figures]) -> [String: Figures] {
        var all = figures
        for job in jobs { all[job.pipeline, default: Figures()].add(job, on: HostDay(of: job.finishedAt ?? .now())) }
        return all
    }

    /// One row in place of many.
    private func sumTotals() throws(JournalError) {
        try exchange([
            PostgresQuery(
                """
                WITH gone AS (DELETE FROM totals WHERE pg_try_advisory_xact_lock($1, $2) RETURNING *) \
                INSERT INTO totals SELECT pipeline, state, sum(count)::bigint FROM gone GROUP BY 1, 2 \
                HAVING sum(count) <> 0
                """, Schema.lock, Schema.Turn.counting.rawValue)
        ])
    }
}
