import Files
import PipelineKit
import SQLite
import SystemPackage

/// The rows of the table `contents`.
enum ContentRow {
    /// The first job with the content but the asking one. A job without a row counts: it is not written down yet, or
    /// was processed so long ago that the history knows no more of it.
    private static let search = """
        SELECT contents.job, coalesce(jobs.state = 'processed', contents.over) \
        FROM contents LEFT JOIN jobs ON jobs.id = contents.job \
        WHERE content = ?1 AND contents.job <> ?2 AND contents.at >= ?3 \
        AND (?4 OR contents.pipeline = ?5) \
        AND coalesce(jobs.state NOT IN ('failed', 'lost'), 1) ORDER BY contents.job LIMIT 1
        """

    static func first(
        _ query: SeenQuery, at time: Timestamp, in db: Connection
    ) throws -> (job: String, isOver: Bool)? {
        let found = try db.first(
            search, query.content, query.job.text, query.since?.nanoseconds ?? .min, query.everywhere, query.pipeline)
        if let found {
            var columns = ColumnReader(found)
            return (try columns.text("job"), try columns.integer("state") != 0)
        }
        try db.run(
            "INSERT OR IGNORE INTO contents (content, job, pipeline, at) VALUES (?, ?, ?, ?)", query.content,
            query.job.text, query.pipeline, time.nanoseconds)
        return nil
    }

    /// A job is about to leave the history: what it has become is all that counts from now on.
    static func settle(_ job: String, in db: Connection) throws {
        try db.run(
            "UPDATE contents SET over = 1 WHERE job = ?1 AND (SELECT state FROM jobs WHERE id = ?1) = 'processed'", job)
        try db.run(
            "DELETE FROM contents WHERE job = ?1 AND (SELECT state FROM jobs WHERE id = ?1) IN ('failed', 'lost')", job)
    }
}
