import Journal
import PipelineKit
import SQLite

/// The columns `open` and `code` of failed jobs, by which those are found that are somebody's to look at.
enum OpenRow {
    /// A job has just failed. One that was released or cancelled has not.
    static func open(_ job: JobRecord, in db: Connection) throws {
        guard job.hasFailed else { return }
        let failure = FailureRows.Failure(job)
        try db.run(
            "UPDATE jobs SET open = ?, code = ?, dismissed = NULL WHERE id = ?", failure.at.nanoseconds, failure.code,
            job.id.text)
    }

    /// A person has dismissed a job. Returns whether it was open.
    static func dismiss(
        _ job: JobID, _ dismissal: Dismissal, _ totals: inout TotalRows, in db: Connection
    ) throws -> Bool {
        var json = JSONText()
        json.dismissal(dismissal)
        return try close("?", job, because: json.string, &totals, in: db)
    }

    /// A row was replaced, between two counts of it. `before`: as what it was over.
    static func update(_ job: JobRecord, before: String?, in db: Connection) throws {
        if job.state != .failed {
            try db.run(
                "UPDATE jobs SET open = NULL, dismissed = NULL WHERE id = ? AND (open NOT NULL OR dismissed NOT NULL)",
                job.id.text)
        } else if before != JobRecord.State.failed.rawValue {
            try open(job, in: db)
        }
    }

    /// A job has a row: what it is a retry of is open no more.
    static func close(retriedAs job: JobID, _ totals: inout TotalRows, in db: Connection) throws {
        try close("(SELECT retry_of FROM jobs WHERE id = ?)", job, &totals, in: db)
    }

    /// The one with the id that an expression of a job's gives is open no more. Returns whether there was one.
    @discardableResult
    private static func close(
        _ expression: String, _ job: JobID, because dismissal: String? = nil, _ totals: inout TotalRows,
        in db: Connection
    ) throws -> Bool {
        let sql = "SELECT id FROM jobs WHERE id = \(expression) AND open IS NOT NULL"
        guard let id = try db.first(sql, job.text)?.first?.text else { return false }
        try totals.count(id, -1)
        try db.run("UPDATE jobs SET open = NULL, dismissed = ? WHERE id = ?", dismissal, id)
        try totals.count(id, 1)
        return true
    }
}
