import GRDB
import PipelineKit
import SystemPackage

/// The rows of the table `pipelines`.
enum PipelineRow {
    private static let columns = "name, inbox, failed, stages, waiting, paused, paused_since, updated_at"

    static let select = "SELECT \(columns) FROM pipelines ORDER BY name"

    static func write(_ record: PipelineRecord, to db: Database) throws {
        let statement = try db.cachedStatement(
            sql: "INSERT OR REPLACE INTO pipelines (\(columns)) VALUES (?, ?, ?, ?, ?, ?, ?, ?)")
        try statement.execute(arguments: [
            record.name,
            JobRow.blob(record.inbox.bytes),
            JobRow.blob(record.failed.bytes),
            JobRow.json(record.stages) { $0.array($1) { $0.string($1) } },
            record.waiting,
            JobRow.json(record.paused) { $0.failure($1) },
            record.pausedSince?.nanoseconds,
            record.updatedAt.nanoseconds,
        ])
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
        return PipelineRecord(
            name: name, inbox: FilePath(bytes: inbox), failed: FilePath(bytes: failed), stages: stages,
            waiting: waiting, paused: paused, pausedSince: pausedSince, updatedAt: try columns.time("updated_at"))
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
