import Files
import Journal
import SQLite

/// The rows of the table `failures`: how many failures are open, by pipeline, code and the hour in which they failed,
/// and the size of their drops. What a transaction changes is added up and written once.
struct FailureRows {
    /// One that is open, or is not any more.
    struct Failure {
        let pipeline: String
        let code: String
        let at: Timestamp
        let size: Int64

        init(pipeline: String, code: String, at time: Timestamp, size: Int64) {
            (self.pipeline, self.code, self.at, self.size) = (pipeline, code, time, size)
        }

        init(_ job: JobRecord) {
            self.init(
                pipeline: job.pipeline, code: job.failure?.code ?? "", at: job.finishedAt ?? job.claimedAt,
                size: job.drop.size)
        }
    }

    private struct Key: Hashable {
        let pipeline: String
        let code: String
        let hour: Int64
    }

    private var changes: [Key: (jobs: Int, bytes: Int64)] = [:]

    mutating func add(_ change: Int, _ failure: Failure) {
        let key = Key(pipeline: failure.pipeline, code: failure.code, hour: FailureGroup.hour(of: failure.at))
        let before = changes[key] ?? (0, 0)
        let bytes = max(0, failure.size).multipliedSaturated(by: Int64(change))
        changes[key] = (before.jobs + change, before.bytes.addingSaturated(bytes))
    }

    /// Writes what has changed; within the transaction.
    func write(to db: Connection) throws {
        let add = try db.statement(
            """
            INSERT INTO failures (pipeline, code, hour, jobs, bytes) VALUES (?, ?, ?, ?, ?) \
            ON CONFLICT (pipeline, code, hour) DO UPDATE SET jobs = jobs + excluded.jobs, bytes = bytes + excluded.bytes
            """)
        let tidy = try db.statement(
            "DELETE FROM failures WHERE pipeline = ? AND code = ? AND hour = ? AND jobs <= 0")
        for (key, change) in changes where change.jobs != 0 || change.bytes != 0 {
            try add.run(key.pipeline, key.code, key.hour, change.jobs, change.bytes)
            if change.jobs < 0 { try tidy.run(key.pipeline, key.code, key.hour) }
        }
    }
}
