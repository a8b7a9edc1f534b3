import Files
import Journal
import PipelineKit
import SQLite
import SystemPackage

/// A job's row: the record's values in the order of the table's columns. What is empty is NULL.
enum JobRow {
    static let columns = [
        "id", "pipeline", "name", "folders", "size", "dropped_at", "device", "inode", "claimed_at", "finished_at",
        "state", "stage", "failures", "recoveries", "next_attempt", "failure", "failed_stage", "payload", "intents",
        "outputs", "original", "digests", "facts", "definition", "retry_of", "history",
        "slot", "inputs", "replay_of", "producer", "original_state",
    ]

    /// Columns that keep their first value, but for a job that passes to another pipeline. SQLite rewrites every index
    /// whose columns are set, even to the same value, and each of these is in one.
    private static let unchanging: Set<String> = ["id", "pipeline", "name", "claimed_at", "producer"]

    /// The states of finished jobs, as SQL. Partial indexes have these very words, and SQLite uses them only where a
    /// query has them too. The others stand one by one, since SQLite makes a table of its own for a list, in every run
    /// of a statement.
    static let isOver = "state IN ('processed', 'failed', 'lost')"
    static let isUnfinished = "state <> 'processed' AND state <> 'failed' AND state <> 'lost'"

    /// Adds a row unless there is one. One that is new learns here whether its file was sent in again.
    static let insert = """
        INSERT OR IGNORE INTO jobs (\(columns.joined(separator: ", "))) VALUES (\(places.joined(separator: ", ")))
        """

    /// Replaces the row of an unfinished job of this pipeline.
    static let update = """
        UPDATE jobs SET \(sets { "?\($0 + 1)" }) \
        WHERE id = \(parameter("id")) AND pipeline = \(parameter("pipeline")) AND \(isUnfinished)
        """

    /// Adds or replaces a row, also one of another pipeline. One that is new learns here whether its file was sent in
    /// again, and keeps it.
    static let upsert = """
        INSERT INTO jobs (\(columns.joined(separator: ", "))) VALUES (\(places.joined(separator: ", "))) \
        ON CONFLICT (id) DO UPDATE SET pipeline = excluded.pipeline, \(sets { "excluded.\(columns[$0])" })
        """

    private static let places = columns.enumerated().map { index, column in
        kept.contains(column)
            ? "coalesce(?\(index + 1), \(RetryRow.search(replays: column == "replay_of")))" : "?\(index + 1)"
    }

    /// Columns that keep a value that they have once.
    private static let kept = ["retry_of", "replay_of"]

    /// The assignments of an update. `value`: that of a column, by its place.
    private static func sets(_ value: (Int) -> String) -> String {
        columns.indices.filter { !unchanging.contains(columns[$0]) }.map { place in
            let column = columns[place]
            return kept.contains(column)
                ? "\(column) = coalesce(?\(place + 1), \(column))" : "\(column) = \(value(place))"
        }.joined(separator: ", ")
    }

    /// The place of the time that tells a file that was sent in again from others, in `insert` and `upsert`.
    static let modified = "?\(columns.count + 1)"

    /// The place of a column's value in `upsert`.
    static func parameter(_ column: String) -> String { "?\((columns.firstIndex(of: column) ?? -1) + 1)" }

    /// The beginning of every query for whole rows.
    static let select = "SELECT \(columns.joined(separator: ", ")), dismissed FROM jobs"

    /// The code of a failure, as SQL; an index has these very words.
    static let code = "CASE WHEN json_valid(failure) THEN json_extract(failure, '$.code') END"

    /// A code as it stands in a failure.
    static func text(ofCode code: String) -> String {
        var json = JSONText()
        json.object { $0.text("code", code) }
        return String(json.string.dropFirst().dropLast())
    }

    static func add(_ record: JobRecord, to values: inout Parameters) {
        values.text(record.id.text)
        values.text(record.pipeline)
        values.blob(record.drop.name.bytes)
        if record.drop.folders.isEmpty {
            values.null()
        } else {
            values.blob(Array(record.drop.folders.map(\.bytes).joined(separator: [0x2F])))
        }
        values.integer(record.drop.size)
        values.integer(record.drop.droppedAt.nanoseconds)
        values.integer(Int64(bitPattern: record.identity.device))
        values.integer(Int64(bitPattern: record.identity.inode))
        values.integer(record.claimedAt.nanoseconds)
        values.integer(record.finishedAt?.nanoseconds)
        values.text(record.state.rawValue)
        values.integer(record.stage)
        values.integer(record.failures)
        values.integer(record.recoveries)
        values.integer(record.nextAttempt?.nanoseconds)
        values.json(record.failure) { $0.failure($1) }
        values.text(record.failedStage)
        values.json(record.payload) { $0.payload($1) }
        values.json(all: record.intents) { $0.intent($1) }
        values.json(all: record.outputs) { $0.path(nil, $1) }
        values.blob(record.original)
        values.json(record.digests.isEmpty ? nil : record.digests) { $0.strings(nil, $1) }
        values.json(record.facts.isEmpty ? nil : record.facts) { $0.strings(nil, $1) }
        values.text(record.definition.text)
        values.text(record.retryOf?.text)
        values.json(all: record.history) { $0.transition($1) }
        values.text(record.slot?.text)
        values.json(record.inputs) { $0.inputs($1) }
        values.text(record.replayOf?.text)
        values.text(record.producer)
        values.json(record.originalState) { $0.original($1) }
    }

    /// The record of a row that `select` has found, or of the values of `columns`.
    static func record(_ row: ColumnReader) throws(JournalError) -> JobRecord {
        var columns = row
        guard let id = JobID(try columns.text("id")) else { throw columns.nonsense("id") }
        columns.subject = "job \(id)"
        let pipeline = try columns.text("pipeline")
        guard let name = FileName(try columns.bytes("name") ?? []) else { throw columns.nonsense("name") }
        let folderNames = try (columns.bytes("folders") ?? []).split(separator: 0x2F)
        let folders = folderNames.compactMap { FileName($0) }
        guard folders.count == folderNames.count else { throw columns.nonsense("folders") }
        let drop = Drop(
            name: name, folders: folders, size: try columns.integer("size"), droppedAt: try columns.time("dropped_at"))
        let identity = FileIdentity(
            device: UInt64(bitPattern: try columns.integer("device")),
            inode: UInt64(bitPattern: try columns.integer("inode")))
        let claimedAt = try columns.time("claimed_at")
        // A record begins as one that was just claimed; its folder is not part of it.
        let job = Job(id: id, pipeline: pipeline, drop: drop, claimedAt: claimedAt, folder: FilePath())
        var record = JobRecord(claimed: job, identity: identity, definition: "")
        record.finishedAt = try columns.optionalTime("finished_at")
        guard let state = JobRecord.State(rawValue: try columns.text("state")) else { throw columns.nonsense("state") }
        record.state = state
        record.stage = Int(try columns.integer("stage"))
        record.failures = Int(try columns.integer("failures"))
        record.recoveries = Int(try columns.integer("recoveries"))
        record.nextAttempt = try columns.optionalTime("next_attempt")
        record.failure = try columns.json("failure", \.failure)
        record.failedStage = try columns.optionalText("failed_stage")
        record.payload = try columns.json("payload", \.payload)
        record.intents = try columns.json("intents") { $0.all(\.intent) } ?? []
        record.outputs = try columns.json("outputs") { $0.all(\.path) } ?? []
        record.original = try columns.bytes("original").map { FilePath(bytes: $0) }
        record.digests = try columns.json("digests", \.strings) ?? [:]
        record.facts = try columns.json("facts", \.strings) ?? [:]
        record.definition = Definition(text: try columns.text("definition"))
        if let retryOf = try columns.optionalText("retry_of") {
            guard let id = JobID(retryOf) else { throw columns.nonsense("retry_of") }
            record.retryOf = id
        }
        record.history = try columns.json("history") { $0.all(\.transition) } ?? []
        if let slot = try columns.optionalText("slot") {
            guard let name = JobID(slot) else { throw columns.nonsense("slot") }
            record.slot = name
        }
        record.inputs = try columns.json("inputs", \.inputs)
        if let replayOf = try columns.optionalText("replay_of") {
            guard let id = JobID(replayOf) else { throw columns.nonsense("replay_of") }
            record.replayOf = id
        }
        record.producer = try columns.optionalText("producer")
        record.originalState = try columns.json("original_state", \.original)
        record.dismissed = try columns.json("dismissed", \.dismissal)
        return record
    }
}
