import Files
import Journal
import SQLite
import SystemPackage

/// The rows of the table `runs`.
enum RunRow {
    /// Runs that are kept: enough to see a daemon that keeps crashing.
    private static let kept = 100

    static func last(_ db: Connection) throws -> RunRecord? {
        let sql = "SELECT boot, process, started_at, ended_at, slots FROM runs ORDER BY number DESC LIMIT 1"
        return try SQLiteJournal.rows(db, sql) { columns throws(JournalError) in
            columns.subject = "the last run"
            let boot = try columns.text("boot")
            let process = Int(try columns.integer("process"))
            let startedAt = try columns.time("started_at")
            let endedAt = try columns.optionalTime("ended_at")
            return RunRecord(
                boot: boot, process: process, startedAt: startedAt, endedAt: endedAt,
                hasSlots: try columns.optionalInteger("slots") == 1)
        }.first
    }

    static func add(_ run: RunRecord, to db: Connection) throws {
        try db.run(
            "INSERT INTO runs (boot, process, started_at, ended_at, slots) VALUES (?, ?, ?, ?, ?)", run.boot,
            run.process,
            run.startedAt.nanoseconds, run.endedAt?.nanoseconds, run.hasSlots)
        try db.run("DELETE FROM runs WHERE number <= (SELECT max(number) FROM runs) - \(kept)")
    }

    static func endLast(at time: Timestamp, in db: Connection) throws {
        try db.run(
            "UPDATE runs SET ended_at = ? WHERE number = (SELECT max(number) FROM runs)", time.nanoseconds)
    }
}
