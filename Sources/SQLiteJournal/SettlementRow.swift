import FoundationEssentials
import GRDB
import Journal
import PipelineKit

/// The rows of the table `settlements`: what a batch of jobs that have no rows yet is about to move. One row for all of
/// them, written before the first move, and removed with the writing of the last one's own row. That is newer in
/// whatever state it is.
enum SettlementRow {
    static func add(_ jobs: [JobRecord], as number: Int64, to db: Database) throws {
        var row = RowValues()
        var blob = RowBlob(columns: JobRow.columns.count)
        for place in jobs.indices {
            row.removeAll()
            JobRow.add(jobs[place], to: &row)
            blob.add(row)
        }
        var values = RowValues()
        values.integer(number)
        values.blob(blob.bytes)
        try values.execute(
            try db.cachedStatement(sql: "INSERT INTO settlements (number, jobs) VALUES (?, ?)"), in: db)
    }

    static func remove(_ number: Int64, from db: Database) throws {
        try db.cachedStatement(sql: "DELETE FROM settlements WHERE number = ?").execute(arguments: [number])
    }

    /// All of them in order, with those of their jobs that have no rows.
    static func all(_ db: Database) throws -> [(number: Int64, jobs: [JobRecord])] {
        let rows = try Row.fetchAll(db, sql: "SELECT number, jobs FROM settlements ORDER BY number")
        return try rows.map { row in
            var columns = ColumnReader(row)
            let number = try columns.integer("number")
            columns.subject = "settlement \(number)"
            guard let values = RowBlob.rows(of: try columns.bytes("jobs") ?? []) else { throw columns.nonsense("jobs") }
            return (number, try values.map { try JobRow.record(ColumnReader($0)) }.filter { try !hasRow($0.id, db) })
        }
    }

    private static func hasRow(_ id: JobID, _ db: Database) throws -> Bool {
        try Bool.fetchOne(
            db.cachedStatement(sql: "SELECT EXISTS (SELECT 1 FROM jobs WHERE id = ?)"), arguments: [id.text]) ?? false
    }
}
