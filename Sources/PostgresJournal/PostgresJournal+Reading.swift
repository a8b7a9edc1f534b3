import Files
package import Journal
package import PipelineKit
import SystemPackage

extension PostgresJournal {
    /// Those of this node; all where it was opened for reading.
    package func unfinished() throws(JournalError) -> [JobRecord] {
        try records(
            PostgresQuery(
                """
                SELECT record, name, producer, claimed_at, retry_of, replay_of FROM unfinished \
                WHERE coalesce(node = $1, true) ORDER BY id
                """, incarnation?.id))
    }

    package func lastRun() throws(JournalError) -> RunRecord? {
        try read(Self.lastRun(of: incarnation?.node)).first.map { row throws(JournalError) in try Self.run(row) }
    }

    package func job(_ id: JobID) throws(JournalError) -> JobRecord? {
        try records(PostgresQuery("\(JobColumns.select) WHERE id = $1", id.text)).first
    }

    package func jobs(_ query: JobQuery) throws(JournalError) -> [JobRecord] {
        let roots = query.original == nil ? [:] : try roots()
        return try JobSearch(query, roots.values).records { search throws(JournalError) in try records(search) }
    }

    package func counts() throws(JournalError) -> [JobCount] {
        try counts(
            PostgresQuery(
                """
                SELECT pipeline, state, stage, count(*) FROM unfinished GROUP BY 1, 2, 3 UNION ALL \
                SELECT pipeline, CASE state WHEN 'open' THEN 'failed' ELSE state END, 0, sum(count)::bigint \
                FROM totals GROUP BY 1, 2 HAVING sum(count) > 0 ORDER BY 1, 2, 3
                """))
    }

    package func countsElsewhere() throws(JournalError) -> [JobCount] {
        try counts(
            PostgresQuery(
                """
                SELECT pipeline, state, stage, count(*) FROM unfinished WHERE node IS DISTINCT FROM $1 \
                GROUP BY 1, 2, 3 ORDER BY 1, 2, 3
                """, incarnation?.id))
    }

    private func counts(_ query: PostgresQuery) throws(JournalError) -> [JobCount] {
        try read(query).map { found throws(JournalError) in
            var row = found
            let pipeline = try row.text()
            guard let state = JobRecord.State(rawValue: try row.text()) else { throw row.nonsense }
            return JobCount(
                pipeline: pipeline, state: state, stage: Int(clamping: try row.integer()),
                count: Int(clamping: try row.integer()))
        }
    }

    package func openFailures() throws(JournalError) -> [String: Int] {
        let rows = try read(
            PostgresQuery("SELECT pipeline, sum(count)::bigint FROM totals WHERE state = 'open' GROUP BY 1"))
        let counts = try rows.map { found throws(JournalError) in
            var row = found
            return (try row.text(), max(0, Int(clamping: try row.integer())))
        }
        return Dictionary(counts) { first, _ in first }
    }

    /// This node's. Where it was opened for reading of each name the newest, of this host's nodes if they have it: its
    /// paths are to be those that jobs are read with.
    package func pipelines() throws(JournalError) -> [PipelineRecord] {
        let rows = try read(
            PostgresQuery(
                """
                SELECT DISTINCT ON (name COLLATE "C") value FROM pipelines WHERE coalesce(node = $1, true) \
                ORDER BY name COLLATE "C", (host = $2) DESC, updated_at DESC
                """, incarnation?.node, host))
        return try rows.map { found throws(JournalError) in
            var row = found
            return try row.json(\.pipeline)
        }
    }

    func records(_ query: PostgresQuery) throws(JournalError) -> [JobRecord] {
        try absolute(read(query).map { row throws(JournalError) in try JobColumns.record(row) })
    }
}
