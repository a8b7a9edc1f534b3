import Files
package import Journal
package import PipelineKit

extension PostgresJournal: SharedJournal {
    /// Puts this incarnation on record, and has its lease renewed from now on.
    func register(_ incarnation: Incarnation) throws(JournalError) {
        let begin = LeaseKeeper.now
        _ = try ask(
            "open", commits,
            PostgresQuery(
                """
                INSERT INTO nodes (incarnation, name, host, version, lease, lease_until) \
                VALUES ($1, $2, $3, $4, $5::interval, clock_timestamp() + $5::interval) \
                ON CONFLICT (incarnation) DO NOTHING
                """, incarnation.id, incarnation.node, incarnation.host, incarnation.version,
                incarnation.leaseText))
        let keeper = LeaseKeeper(incarnation.lease, from: begin) { @Sendable [weak self] in
            do throws(JournalError) {
                _ = try self?.renew()
                return true
            } catch {
                // It is tried again; whoever commits meets the same error.
                return false
            }
        }
        keeping.withLock { $0 = keeper }
        tell(.nodes)
    }

    package var incarnationID: String { incarnation?.id ?? "" }

    package var mayAct: Bool { rest > min(.seconds(5), (incarnation?.lease ?? .zero) / 6) }

    package var isLost: Bool { keeping.withLock { $0?.isLost } ?? false }

    package var rest: Duration { keeping.withLock { $0?.rest } ?? .zero }

    package func renew() throws(JournalError) -> Bool {
        guard let incarnation else { throw isForReading }
        let query = PostgresQuery(
            """
            UPDATE nodes SET lease_until = clock_timestamp() + $2::interval \
            WHERE incarnation = $1 AND dead_at IS NULL RETURNING incarnation
            """, incarnation.id, incarnation.leaseText)
        let sent = LeaseKeeper.now
        // Where an answer does not come there is to be time for another try.
        let answers = try again("write") { () throws(PostgresError) in
            try leases.exchange([query], within: incarnation.lease / 4)
        }
        let holds = answers.first?.count == 1
        keeping.withLock { $0 }?.note(holds, sent: sent)
        return holds
    }

    package func share(of pipeline: String, proposing token: String) throws(JournalError) -> String {
        guard let incarnation else { throw isForReading }
        var row = try ask(
            "write", commits, PostgresQuery("SELECT share_1($1, $2, $3)", incarnation.id, pipeline, token)
        ).first
        return try row?.text() ?? token
    }

    package func standings() throws(JournalError) -> [String: [PipelineRecord]] {
        let rows = try read(PostgresQuery("SELECT node, value FROM pipelines ORDER BY node, name COLLATE \"C\""))
        let all = try rows.map { found throws(JournalError) in
            var row = found
            return (node: try row.text(), pipeline: try row.json(\.pipeline))
        }
        return Dictionary(grouping: all, by: \.node).mapValues { $0.map(\.pipeline) }
    }

    package func clockOffset() throws(JournalError) -> Duration { .zero - (try lead()) }

    package func nodes() throws(JournalError) -> [NodeRecord] {
        var nodes = try nodes(where: "true")
        var taken: Set<String> = []
        // The oldest first.
        for index in nodes.indices.reversed() where nodes[index].holdsLease {
            nodes[index].isWaiting = !taken.insert(nodes[index].name).inserted
        }
        return nodes
    }

    private func nodes(where condition: String) throws(JournalError) -> [NodeRecord] {
        let rows = try read(
            PostgresQuery(
                """
                SELECT incarnation, name, host, version, (extract(epoch FROM since) * 1000000)::bigint, \
                (extract(epoch FROM lease_until - clock_timestamp()) * 1000000)::bigint, dead_at IS NOT NULL, \
                (SELECT count(*) FROM unfinished u WHERE u.node = incarnation) FROM nodes WHERE \(condition) \
                ORDER BY since DESC, incarnation
                """))
        return try rows.map { found throws(JournalError) in
            var row = found
            return NodeRecord(
                incarnation: try row.text(), name: try row.text(), host: try row.text(), version: try row.text(),
                since: Timestamp(nanoseconds: try row.integer().multipliedSaturated(by: 1000)),
                lease: .microseconds(try row.integer()), isDead: try row.flag(), jobs: Int(clamping: try row.integer()))
        }
    }

    package func markDead() throws(JournalError) -> [NodeRecord] {
        var rows = try ask(
            "write", leases,
            PostgresQuery(
                """
                UPDATE nodes SET dead_at = clock_timestamp() WHERE incarnation IN (SELECT incarnation FROM nodes \
                WHERE dead_at IS NULL AND clock_timestamp() >= \(Schema.end) FOR UPDATE SKIP LOCKED) \
                RETURNING incarnation
                """))
        let marked = try rows.indices.map { place throws(JournalError) in try rows[place].text() }
        if !marked.isEmpty { tell(.nodes) }
        let found = try nodes(
            where: "dead_at IS NOT NULL AND (EXISTS (SELECT FROM unfinished u WHERE u.node = incarnation) "
                + "OR dead_at > clock_timestamp() - interval '1 minute')")
        return found.filter { $0.jobs > 0 || marked.contains($0.incarnation) }
    }

    package func takeOver(
        from dead: String, of pipelines: [String], with definitions: [Definition]?, limit: Int
    ) throws(JournalError) -> [TakenJob] {
        guard let incarnation else { throw isForReading }
        // Not twice: jobs whose answer was lost are this node's, and are found by `unfinished`.
        let rows = try once(
            PostgresQuery(
                """
                SELECT token, record, name, producer, claimed_at, retry_of, replay_of \
                FROM take_over_1($1, $2, $3, $4, $5)
                """, incarnation.id, dead, PostgresColumn(pipelines),
                definitions.map { PostgresColumn($0.map(\.text)) }, limit))
        let found = try rows.map { found throws(JournalError) in
            var row = found
            return (token: try row.integer(), record: try JobColumns.record(row))
        }
        let taken = zip(try absolute(found.map(\.record)), found).map { TakenJob($0, token: $1.token) }
        tokens.withLock { tokens in
            for job in taken { tokens[job.record.id] = job.token }
        }
        return taken
    }

    /// They go to a node that never was and is dead, which any node takes from.
    package func release(_ jobs: [JobID]) throws(JournalError) {
        guard let incarnation, !jobs.isEmpty else { return }
        try exchange([
            PostgresQuery(
                """
                INSERT INTO nodes (incarnation, name, host, version, lease, lease_until, dead_at) \
                VALUES ('released', 'released', '', '', '0', clock_timestamp(), clock_timestamp()) \
                ON CONFLICT DO NOTHING
                """),
            PostgresQuery(
                "UPDATE unfinished SET node = 'released' WHERE id = ANY ($1::text[]) AND node = $2",
                PostgresColumn(jobs.map(\.text)), incarnation.id),
        ])
    }

    package func leave() throws(JournalError) {
        guard let incarnation else { throw isForReading }
        try exchange([end(of: incarnation)])
        tell(.nodes)
    }

    /// Has the lease renewed no more. A renewal that is under way asks for the keeper, too.
    func stopKeeping() {
        let keeper = keeping.withLock { keeper in
            defer { keeper = nil }
            return keeper
        }
        keeper?.stop()
    }

    /// Has the lease renewed no more, and returns what says so to others.
    func end(of incarnation: Incarnation) -> PostgresQuery {
        stopKeeping()
        return PostgresQuery(
            """
            UPDATE nodes SET lease_until = least(lease_until, clock_timestamp()), dead_at = clock_timestamp() \
            WHERE incarnation = $1 AND dead_at IS NULL
            """, incarnation.id)
    }
}
