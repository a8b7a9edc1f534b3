import Journal
import PipelineKit
import SQLite

/// The rows of the table `settlements`: what a batch of jobs that have no rows yet is about to move. One row for all of
/// them, written before the first move, and removed with the writing of the last one's own row. That is newer in
/// whatever state it is.
enum SettlementRow {
    static func add(_ jobs: [JobRecord], as number: Int64, to db: Connection) throws {
        var row = Parameters()
        var blob = RowBlob(columns: JobRow.columns.count)
        for place in jobs.indices {
            row.removeAll()
            JobRow.add(jobs[place], to: &row)
            blob.add(row)
            // The others are much the same.
            if place == jobs.startIndex { blob.expect(rows: jobs.count) }
        }
        var values = Parameters()
        values.integer(number)
        values.blob(blob.bytes)
        try db.statement("INSERT INTO settlements (number, jobs) VALUES (?, ?)").run(values)
    }

    static func remove(_ number: Int64, from db: Connection) throws {
        try db.run("DELETE FROM settlements WHERE number = ?", number)
    }

    /// All of them in order, with those of their jobs that have no rows.
    static func all(_ db: Connection) throws -> [(number: Int64, jobs: [JobRecord])] {
        try db.all("SELECT number, jobs FROM settlements ORDER BY number").map { row in
            var columns = ColumnReader(row)
            let number = try columns.integer("number")
            columns.subject = "settlement \(number)"
            guard let values = RowBlob.rows(of: try columns.bytes("jobs") ?? []) else { throw columns.nonsense("jobs") }
            return (number, try values.map { try JobRow.record(ColumnReader($0)) }.filter { try !hasRow($0.id, db) })
        }
    }

    private static func hasRow(_ id: JobID, _ db: Connection) throws -> Bool {
        try db.first("SELECT 1 FROM jobs WHERE id = ?", id.text) != nil
    }
}
