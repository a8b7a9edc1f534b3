import Files
import Journal
import PipelineKit

/// The columns by which a job is read: its record, and what stays as it was first, or is changed apart from it.
enum JobColumns {
    static let unfinished = """
        id, node, pipeline, state, name, producer, claimed_at, record, retry_of, replay_of, slot, code
        """

    /// Every job, over or not, as a table.
    static let all = """
        (SELECT \(unfinished), NULL::bigint AS finished_at, NULL::bigint AS open, NULL::text AS dismissed, \
        NULL::bytea AS original FROM unfinished UNION ALL \
        SELECT \(unfinished), finished_at, open, dismissed, original FROM history) AS jobs
        """

    /// The beginning of what selects whole jobs from that.
    ///
    /// What nodes gave up is that of one which never was on any host.
    static let select = """
        SELECT record, name, producer, claimed_at, retry_of, replay_of, dismissed, \
        (SELECT nodes.name FROM nodes WHERE incarnation = jobs.node AND host <> '') FROM \(all)
        """

    static func record(_ found: PostgresRow) throws(JournalError) -> JobRecord {
        var row = found
        var record = try row.json(\.job)
        let name = try row.bytes()
        if name != record.drop.name.bytes, let first = FileName(name) {
            record.drop = Drop(
                name: first, folders: record.drop.folders, size: record.drop.size, droppedAt: record.drop.droppedAt)
        }
        record.producer = row.optionalText()
        record.claimedAt = Timestamp(nanoseconds: try row.integer())
        record.retryOf = try row.optionalID()
        record.replayOf = try row.optionalID()
        record.dismissed = row.optionalText().flatMap { JSONValue($0)?.dismissal }
        record.node = row.optionalText()
        return record
    }
}
