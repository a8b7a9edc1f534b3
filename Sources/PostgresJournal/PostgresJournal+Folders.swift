package import Journal
package import PipelineKit

/// What is on record of jobs' folders.
extension PostgresJournal {
    package func records(of folders: [JobID]) throws(JournalError) -> FolderRecords {
        var records = FolderRecords()
        guard !folders.isEmpty else { return records }
        let ids = PostgresColumn(folders.map(\.text))
        records.held = try found(
            """
            SELECT id FROM unfinished WHERE id = ANY ($1::text[]) UNION ALL \
            SELECT slot FROM unfinished WHERE slot = ANY ($1::text[])
            """, ids)
        records.used = try found("SELECT id FROM history WHERE id = ANY ($1::text[])", ids).union(records.held)
        let lost = try self.records(
            PostgresQuery(
                """
                \(JobColumns.select) WHERE state = 'lost' AND (slot = ANY ($1::text[]) OR id = ANY ($1::text[])) \
                ORDER BY claimed_at
                """, ids))
        // The newest of each.
        for record in lost { records.lost[record.folder] = record }
        return records
    }

    private func found(_ sql: String, _ ids: PostgresColumn) throws(JournalError) -> Set<JobID> {
        let rows = try read(PostgresQuery(sql, ids))
        return Set(
            try rows.map { found throws(JournalError) in
                var row = found
                return try row.id()
            })
    }
}
