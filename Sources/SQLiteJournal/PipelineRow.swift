import Journal
import SQLite
import SystemPackage

/// The rows of the table `pipelines`.
enum PipelineRow {
    private static let columns = "name, inbox, failed, stages, waiting, paused, paused_since, updated_at"

    /// Columns that were added later: a reader may open the journal before the daemon adds them.
    static func select(_ db: Connection) throws -> String {
        let there = Set(try db.all("SELECT name FROM pragma_table_info('pipelines')").compactMap(\.first?.text))
        let added = ["source", "works"].map { there.contains($0) ? $0 : "NULL" }.joined(separator: ", ")
        return "SELECT \(columns), \(added) FROM pipelines ORDER BY name"
    }

    static func write(_ record: PipelineRecord, to db: Connection) throws {
        let statement = try db.statement(
            "INSERT OR REPLACE INTO pipelines (\(columns), source, works) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)")
        var values = Parameters()
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
                for place in works { json.workPlace(place) }
            }
        }
        try statement.run(values)
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
