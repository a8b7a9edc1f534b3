import GRDB
import PipelineKit
import SystemPackage

/// The rows of the table `pipelines`.
enum PipelineRow {
    private static let columns = "name, inbox, failed, stages, waiting, paused, paused_since, updated_at"

    /// Those that were added later: a reader may be there before the daemon that adds them.
    static func select(_ db: Database) throws -> String {
        let there = Set(try db.columns(in: "pipelines").map(\.name))
        let added = ["source", "works"].map { there.contains($0) ? $0 : "NULL" }.joined(separator: ", ")
        return "SELECT \(columns), \(added) FROM pipelines ORDER BY name"
    }

    static func write(_ record: PipelineRecord, to db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO pipelines (\(columns), source, works) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        var values = RowValues()
        values.text(record.name)
        values.blob(record.inbox)
        values.blob(record.failed)
        values.json(record.stages) { json, stages in
            json.array { json in
                for stage in stages { json.text(nil, stage) }
            }
        }
        values.integer(record.waiting)
        values.json(record.paused) { $0.failure($1) }
        values.integer(record.pausedSince?.nanoseconds)
        values.integer(record.updatedAt.nanoseconds)
        values.blob(record.source)
        values.json(record.works) { json, works in
            json.array { json in
                for place in works {
                    json.object { json in
                        json.path("path", place.path)
                        json.integer("inbox", place.inbox)
                        json.integer("file_system", place.fileSystem)
                    }
                }
            }
        }
        try values.execute(statement, in: db)
    }

    static func record(_ columns: inout ColumnReader) throws(JournalError) -> PipelineRecord {
        let name = try columns.text("name")
        columns.subject = "pipeline '\(name)'"
        guard let inbox = try columns.bytes("inbox") else { throw columns.nonsense("inbox") }
        guard let failed = try columns.bytes("failed") else { throw columns.nonsense("failed") }
        let stages = try columns.json("stages") { $0.all(\.string) } ?? []
        let waiting = Int(try columns.integer("waiting"))
        let paused = try columns.json("paused", \.failure)
        let pausedSince = try columns.optionalTime("paused_since")
        let updatedAt = try columns.time("updated_at")
        var record = PipelineRecord(
            name: name, source: try columns.bytes("source").map { FilePath(bytes: $0) }, inbox: FilePath(bytes: inbox),
            failed: FilePath(bytes: failed), stages: stages, waiting: waiting, paused: paused,
            pausedSince: pausedSince, updatedAt: updatedAt)
        record.works = try columns.json("works") { $0.all(\.workPlace) } ?? []
        return record
    }
}

/// The rows of the table `runs`.
enum RunRow {
    /// Runs that are kept: enough to see a daemon that keeps crashing.
    private static let kept = 100

    static func last(_ db: Database) throws -> RunRecord? {
        let sql = "SELECT boot, process, started_at, ended_at FROM runs ORDER BY number DESC LIMIT 1"
        return try SQLiteJournal.rows(db, sql) { columns throws(JournalError) in
            columns.subject = "the last run"
            let boot = try columns.text("boot")
            let process = Int(try columns.integer("process"))
            let startedAt = try columns.time("started_at")
            return RunRecord(
                boot: boot, process: process, startedAt: startedAt, endedAt: try columns.optionalTime("ended_at"))
        }.first
    }

    static func add(_ run: RunRecord, to db: Database) throws {
        try db.execute(
            sql: "INSERT INTO runs (boot, process, started_at, ended_at) VALUES (?, ?, ?, ?)",
            arguments: [run.boot, run.process, run.startedAt.nanoseconds, run.endedAt?.nanoseconds])
        try db.execute(sql: "DELETE FROM runs WHERE number <= (SELECT max(number) FROM runs) - \(kept)")
    }

    static func endLast(at time: Timestamp, in db: Database) throws {
        try db.execute(
            sql: "UPDATE runs SET ended_at = ? WHERE number = (SELECT max(number) FROM runs)",
            arguments: [time.nanoseconds])
    }
}

/// The rows of the table `totals`: how many jobs of a pipeline are over in each way. What a transaction changes is
/// added up and written once.
struct TotalRows {
    private struct Key: Hashable {
        let pipeline: String
        let state: String
    }

    private var changes: [Key: Int] = [:]
    private let search: Statement

    init(_ db: Database) throws {
        search = try db.cachedStatement(sql: "SELECT pipeline, state FROM jobs WHERE id = ? AND \(JobRow.isOver)")
    }

    /// Counts a job as its row has it: -1 before that is changed or removed, 1 after. One that is not over is in none.
    mutating func count(_ id: String, _ change: Int) throws {
        guard let row = try Row.fetchOne(search, arguments: [id]) else { return }
        var columns = ColumnReader(row)
        columns.subject = "job \(id)"
        changes[Key(pipeline: try columns.text("pipeline"), state: try columns.text("state")), default: 0] += change
    }

    /// Counts a job that was in none so far, without a look at its row.
    mutating func count(_ job: JobRecord) {
        guard job.state.isFinal else { return }
        changes[Key(pipeline: job.pipeline, state: job.state.rawValue), default: 0] += 1
    }

    /// Writes what has changed; within the transaction.
    func write(to db: Database) throws {
        let statement = try db.cachedStatement(
            sql: """
                INSERT INTO totals (pipeline, state, count) VALUES (?, ?, ?) \
                ON CONFLICT (pipeline, state) DO UPDATE SET count = count + excluded.count
                """)
        for (key, change) in changes where change != 0 {
            try statement.execute(arguments: [key.pipeline, key.state, change])
        }
    }
}

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

/// The rows of the table `retries`. A file that is sent in again goes into the inbox of its job's pipeline, where its
/// inode's number tells it from all others; a device has another number after a mount.
enum RetryRow {
    /// As part of `JobRow.upsert`: the job whose file this one's is.
    static let search = """
        (SELECT retries.job FROM retries JOIN jobs AS earlier ON earlier.id = retries.job \
        WHERE retries.inode = \(JobRow.parameter("inode")) AND earlier.pipeline = \(JobRow.parameter("pipeline")) \
        ORDER BY retries.job DESC LIMIT 1)
        """

    static func isAny(_ db: Database) throws -> Bool {
        try Bool.fetchOne(db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM retries)")) ?? false
    }

    static func add(_ job: JobID, as identity: FileIdentity, to db: Database) throws {
        try db.execute(
            sql: "INSERT OR REPLACE INTO retries (device, inode, job) VALUES (?, ?, ?)",
            arguments: [Int64(bitPattern: identity.device), Int64(bitPattern: identity.inode), job.text])
    }

    static func remove(_ job: JobID, as identity: FileIdentity, from db: Database) throws {
        try db.execute(
            sql: "DELETE FROM retries WHERE inode = ? AND job = ?",
            arguments: [Int64(bitPattern: identity.inode), job.text])
    }

    /// An inode serves once: its next job may be another file's.
    static func removeIfTaken(by job: JobRecord, in db: Database) throws {
        try db.cachedStatement(
            sql: """
                DELETE FROM retries WHERE inode = ? AND job = (SELECT retry_of FROM jobs WHERE id = ?)
                """
        ).execute(arguments: [Int64(bitPattern: job.identity.inode), job.id.text])
    }
}
