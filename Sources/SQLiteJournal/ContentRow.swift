import Files
import GRDB
import PipelineKit
import SystemPackage

/// The rows of the table `contents`.
enum ContentRow {
    /// The first job with the content but the asking one. A job without a row counts: it is not written down yet, or
    /// over for so long that it was pruned.
    private static let search = """
        SELECT contents.job, coalesce(jobs.state = 'processed', 0) \
        FROM contents LEFT JOIN jobs ON jobs.id = contents.job \
        WHERE content = :content AND contents.job <> :job AND contents.at >= :since \
        AND (:everywhere OR contents.pipeline = :pipeline) \
        AND coalesce(jobs.state NOT IN ('failed', 'lost'), 1) ORDER BY contents.job LIMIT 1
        """

    static func first(
        _ query: SeenQuery, at time: Timestamp, in db: Database
    ) throws -> (job: String, isOver: Bool)? {
        let search = try db.cachedStatement(sql: Self.search)
        let found = try Row.fetchOne(
            search,
            arguments: [
                "content": query.content, "job": query.job.text, "since": query.since?.nanoseconds ?? .min,
                "everywhere": query.everywhere, "pipeline": query.pipeline,
            ])
        if let found { return (found[0], found[1]) }
        try db.cachedStatement(
            sql: "INSERT OR IGNORE INTO contents (content, job, pipeline, at) VALUES (?, ?, ?, ?)"
        ).execute(arguments: [query.content, query.job.text, query.pipeline, time.nanoseconds])
        return nil
    }
}
