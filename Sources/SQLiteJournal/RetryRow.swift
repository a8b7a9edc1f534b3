import Files
import Journal
import PipelineKit
import SQLite
import SystemPackage

/// The rows of the table `retries`. A file that is sent in again is known by its inbox, its inode's number, its size
/// and its time; a device has another number after a mount. Its pipeline may have another name by then.
enum RetryRow {
    /// As part of `JobRow.insert`: the newest job whose file this one's is, or whose file it is a copy of. Not by ORDER
    /// BY, for which SQLite makes a table of its own for every row that is written.
    static func search(replays: Bool) -> String {
        """
        (SELECT max(retries.job) FROM retries JOIN jobs AS earlier ON earlier.id = retries.job \
        WHERE retries.inode = \(JobRow.parameter("inode")) AND retries.replay = \(replays ? 1 : 0) \
        AND coalesce(retries.size = \(JobRow.parameter("size")), 1) \
        AND coalesce(retries.modified = \(JobRow.modified), 1) \
        AND coalesce(retries.inbox = (SELECT inbox FROM pipelines WHERE name = \(JobRow.parameter("pipeline"))), \
        earlier.pipeline = \(JobRow.parameter("pipeline"))))
        """
    }

    static func isAny(_ db: Connection) throws -> Bool {
        try db.first("SELECT 1 FROM retries LIMIT 1") != nil
    }

    static func add(_ job: JobID, as file: SentFile, isReplay: Bool, to db: Connection) throws {
        try db.run(
            """
            INSERT OR REPLACE INTO retries (device, inode, job, replay, inbox, size, modified, at) \
            VALUES (?, ?, ?, ?, ?, ?, ?, ?)
            """, Int64(bitPattern: file.identity.device), Int64(bitPattern: file.identity.inode), job.text, isReplay,
            Array(file.inbox.bytes), file.size, file.modified.map { Timestamp($0).nanoseconds },
            Timestamp.now().nanoseconds)
    }

    static func remove(_ job: JobID, as identity: FileIdentity, from db: Connection) throws {
        try db.run(
            "DELETE FROM retries WHERE inode = ? AND job = ?", Int64(bitPattern: identity.inode), job.text)
    }

    /// An inode serves once: its next job may be another file's.
    static func removeIfTaken(by job: JobRecord, in db: Connection) throws {
        try db.run(
            """
            DELETE FROM retries WHERE inode = ?1 AND (job = (SELECT retry_of FROM jobs WHERE id = ?2) \
            OR job = (SELECT replay_of FROM jobs WHERE id = ?2))
            """, Int64(bitPattern: job.identity.inode), job.id.text)
    }
}
