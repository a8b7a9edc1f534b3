package import Files
package import Journal
package import PipelineKit
import SystemPackage

/// Files that come again, content that came before, and what people say.
extension PostgresJournal {
    package func noteRetry(of job: JobID, as file: SentFile) throws(JournalError) {
        try note(job, file, isReplay: false)
    }

    package func noteReplay(of job: JobID, as file: SentFile) throws(JournalError) {
        try note(job, file, isReplay: true)
    }

    private func note(_ job: JobID, _ file: SentFile, isReplay: Bool) throws(JournalError) {
        // Other hosts may have that inbox elsewhere; the device has another number there.
        let pipeline = try roots().first { $0.value.isInbox(file.inbox) }?.key
        _ = try ask(
            "write", commits,
            PostgresQuery(
                """
                INSERT INTO retries (inode, inbox, pipeline, device, job, replay, size, modified, at) \
                VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) ON CONFLICT (inode, inbox) DO UPDATE SET \
                pipeline = excluded.pipeline, device = excluded.device, job = excluded.job, \
                replay = excluded.replay, size = excluded.size, modified = excluded.modified, at = excluded.at
                """, Int64(bitPattern: file.identity.inode), Array(file.inbox.bytes), pipeline,
                Int64(bitPattern: file.identity.device), job.text, isReplay, file.size,
                file.modified.map { Timestamp($0).nanoseconds }, Timestamp.now().nanoseconds))
    }

    package func forgetRetry(of job: JobID, as identity: FileIdentity) throws(JournalError) {
        _ = try ask(
            "write", commits,
            PostgresQuery(
                "DELETE FROM retries WHERE inode = $1 AND job = $2", Int64(bitPattern: identity.inode), job.text))
    }

    package func sentIn() throws(JournalError) -> [(job: JobID, identity: FileIdentity)] {
        try read(PostgresQuery("SELECT job, device, inode FROM retries")).map { found throws(JournalError) in
            var row = found
            let (job, device) = (try row.id(), UInt64(bitPattern: try row.integer()))
            return (job, FileIdentity(device: device, inode: UInt64(bitPattern: try row.integer())))
        }
    }

    package func first(_ content: SeenQuery, at time: Timestamp) throws(JournalError) -> SeenJob? {
        let rows = try ask(
            "write", commits,
            PostgresQuery(
                "SELECT job, is_over FROM first_content_1($1, $2, $3, $4, $5, $6, $7)", content.content,
                content.job.text, content.pipeline, node, content.everywhere, content.since?.nanoseconds ?? .min,
                time.nanoseconds))
        return try rows.first.map { found throws(JournalError) in
            var row = found
            return SeenJob(try row.id(), isOver: try row.flag())
        }
    }

    package func setDismissed(_ jobs: [JobID], _ dismissal: Dismissal) throws(JournalError) -> Set<JobID> {
        var json = JSONText()
        json.dismissal(dismissal)
        var rows = try ask(
            "write", commits,
            PostgresQuery(
                """
                UPDATE history SET open = NULL, dismissed = $2 WHERE id = ANY ($1::text[]) AND open IS NOT NULL \
                RETURNING id
                """, PostgresColumn(jobs.map(\.text)), json.string))
        return Set(try rows.indices.map { place throws(JournalError) in try rows[place].id() })
    }

    /// Changes that may be made twice.
    func exchange(_ queries: [PostgresQuery]) throws(JournalError) {
        guard !queries.isEmpty else { return }
        _ = try again("write") { () throws(PostgresError) in try commits.exchange(queries) }
    }
}
