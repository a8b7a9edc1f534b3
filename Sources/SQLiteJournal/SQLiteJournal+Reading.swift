package import Files
package import Journal
package import PipelineKit
import SQLite
import SystemPackage

extension SQLiteJournal {
    package func unfinished() throws(JournalError) -> [JobRecord] {
        try read { db in
            let rows = try Self.records(db, "\(JobRow.select) WHERE \(JobRow.isUnfinished)")
            return (rows + (try SettlementRow.all(db).flatMap(\.jobs))).sorted { $0.id < $1.id }
        }
    }

    package func lastRun() throws(JournalError) -> RunRecord? { try read { db in try RunRow.last(db) } }

    package func job(_ id: JobID) throws(JournalError) -> JobRecord? {
        try read { db in
            try Self.records(db, "\(JobRow.select) WHERE id = ?", Parameters([id.text])).first
                ?? SettlementRow.all(db).flatMap(\.jobs).first { $0.id == id }
        }
    }

    package func jobs(_ query: JobQuery) throws(JournalError) -> [JobRecord] {
        var conditions: [String] = []
        var arguments = Parameters()
        if !query.states.isEmpty {
            // As text of our own, not as arguments: the partial indexes are found by their words only.
            let states = query.states.map { "'\($0.rawValue)'" }
            conditions.append(
                states.count == 1 ? "state = \(states[0])" : "state IN (\(states.joined(separator: ", ")))")
            if query.states.allSatisfy({ !$0.isFinal }) { conditions.append(JobRow.isUnfinished) }
        }
        if let pipeline = query.pipeline {
            conditions.append("pipeline = ?")
            arguments.text(pipeline)
        }
        if let prefix = query.idPrefix {
            // A range, which the primary key finds; an id has no character as high as '~'.
            conditions.append("id >= ? AND id < ?")
            arguments.text(prefix)
            arguments.text(prefix + "~")
        }
        if let name = query.name {
            conditions.append("name = ?")
            arguments.blob(name.bytes)
        }
        if let slot = query.slot {
            conditions.append("slot = ?")
            arguments.text(slot.text)
        }
        if let since = query.since {
            conditions.append("claimed_at >= ?")
            arguments.integer(since.nanoseconds)
        }
        if let until = query.until {
            conditions.append("claimed_at < ?")
            arguments.integer(until.nanoseconds)
        }
        if let finished = query.finishedSince {
            // The words of the index.
            conditions.append("finished_at >= ? AND finished_at IS NOT NULL")
            arguments.integer(finished.nanoseconds)
        }
        if let code = query.code {
            conditions.append("instr(failure, ?) > 0")
            arguments.text(JobRow.text(ofCode: code))
        }
        if let code = query.otherThan {
            conditions.append("coalesce(instr(failure, ?), 0) = 0")
            arguments.text(JobRow.text(ofCode: code))
        }
        if let retryOf = query.retryOf {
            conditions.append("retry_of = ?")
            arguments.text(retryOf.text)
        }
        if let replayOf = query.replayOf {
            conditions.append("replay_of = ?")
            arguments.text(replayOf.text)
        }
        if !query.left.isEmpty {
            let places = query.left.map { _ in "original = ? OR instr(outputs, ?) > 0" }.joined(separator: " OR ")
            conditions.append("\(JobRow.isOver) AND (\(places))")
            for path in query.left {
                arguments.blob(path)
                arguments.text(Self.text(ofOutput: path))
            }
        }
        var sql = JobRow.select
        if !conditions.isEmpty { sql += " WHERE \(conditions.joined(separator: " AND "))" }
        sql += " ORDER BY claimed_at DESC, rowid DESC"
        // A pattern is not SQL's to match.
        if let limit = query.limit, query.pattern == nil { sql += " LIMIT \(max(0, limit))" }
        return try read { [sql, arguments] db in
            let rows = try Self.records(db, sql, arguments, of: query)
            let others = try SettlementRow.all(db).flatMap(\.jobs).filter(query.matches)
            guard !others.isEmpty else { return rows }
            let all = (others + rows).sorted { $0.claimedAt > $1.claimedAt }
            return Array(all.prefix(query.limit.map { max(0, $0) } ?? .max))
        }
    }

    /// A path as it stands in the list of outputs.
    private static func text(ofOutput path: FilePath) -> String {
        var json = JSONText()
        json.array { $0.path(nil, path) }
        return String(json.string.dropFirst().dropLast())
    }

    package func counts() throws(JournalError) -> [JobCount] {
        let sql = """
            SELECT pipeline, state, stage, count(*) FROM jobs INDEXED BY jobs_unfinished
            WHERE \(JobRow.isUnfinished) GROUP BY 1, 2, 3
            UNION ALL SELECT pipeline, state, 0, totals.count - coalesce(again.count, 0) AS rest
            FROM totals LEFT JOIN (
                SELECT pipeline, state, count(*) AS count FROM jobs WHERE id IN (
                    SELECT retry_of FROM jobs INDEXED BY jobs_retry_of WHERE retry_of IS NOT NULL)
                GROUP BY 1, 2
            ) AS again USING (pipeline, state)
            WHERE rest > 0
            ORDER BY 1, 2, 3
            """
        return try read { db in
            let rows = try Self.rows(db, sql) { columns throws(JournalError) in
                let pipeline = try columns.text("pipeline")
                guard let state = JobRecord.State(rawValue: try columns.text("state")) else {
                    throw columns.nonsense("state")
                }
                return JobCount(
                    pipeline: pipeline, state: state, stage: Int(try columns.integer("stage")),
                    count: Int(try columns.integer("count")))
            }
            let others = try SettlementRow.all(db).flatMap(\.jobs)
            return others.isEmpty ? rows : rows.adding(others)
        }
    }

    package func pipelines() throws(JournalError) -> [PipelineRecord] {
        try read { db in try Self.rows(db, PipelineRow.select(db), read: PipelineRow.record) }
    }

    package func sentIn() throws(JournalError) -> [(job: JobID, identity: FileIdentity)] {
        try read { db in
            let rows = try Self.rows(db, "SELECT job, device, inode FROM retries") { columns throws(JournalError) in
                guard let job = JobID(try columns.text("job")) else { throw columns.nonsense("job") }
                let device = UInt64(bitPattern: try columns.integer("device"))
                return (job, FileIdentity(device: device, inode: UInt64(bitPattern: try columns.integer("inode"))))
            }
            return rows.map { (job: $0.0, identity: $0.1) }
        }
    }

    package func holds() throws(JournalError) -> [HoldRecord] { try read { db in try HoldRow.all(db) } }

    /// Runs `body` on one state of the journal.
    func read<Value>(_ body: (Connection) throws -> Value) throws(JournalError) -> Value {
        do {
            return try reader.read(body)
        } catch {
            throw JournalError(error, "read", path)
        }
    }

    static func records(
        _ db: Connection, _ sql: String, _ arguments: Parameters = Parameters()
    ) throws -> [JobRecord] {
        var records: [JobRecord] = []
        try db.query(sql, arguments) { row in
            records.append(try JobRow.record(ColumnReader(row)))
            return true
        }
        return records
    }

    /// The same, but for those that only the query itself can tell from others.
    private static func records(
        _ db: Connection, _ sql: String, _ arguments: Parameters, of query: JobQuery
    ) throws -> [JobRecord] {
        guard query.pattern != nil else { return try records(db, sql, arguments) }
        var records: [JobRecord] = []
        let limit = query.limit ?? .max
        guard limit > 0 else { return [] }
        try db.query(sql, arguments) { row in
            if JobRow.mayMatch(row, query) {
                let record = try JobRow.record(ColumnReader(row))
                if query.matches(record) { records.append(record) }
            }
            return records.count < limit
        }
        return records
    }

    static func rows<Value>(
        _ db: Connection, _ sql: String, _ arguments: Parameters = Parameters(),
        read: (inout ColumnReader) throws(JournalError) -> Value
    ) throws -> [Value] {
        var values: [Value] = []
        try db.query(sql, arguments) { row in
            var columns = ColumnReader(row)
            values.append(try read(&columns))
            return true
        }
        return values
    }
}

extension [JobCount] {
    /// With unfinished jobs that have no rows.
    fileprivate func adding(_ jobs: [JobRecord]) -> [JobCount] {
        var counts = Dictionary(map { ($0.group, $0.count) }) { $0 + $1 }
        for job in jobs {
            let one = JobCount(pipeline: job.pipeline, state: job.state, stage: job.stage, count: 0)
            counts[one, default: 0] += 1
        }
        return counts.map { JobCount(pipeline: $0.pipeline, state: $0.state, stage: $0.stage, count: $1) }
            .sorted { ($0.pipeline, $0.state.rawValue, $0.stage) < ($1.pipeline, $1.state.rawValue, $1.stage) }
    }
}

extension JobCount {
    /// What it counts.
    fileprivate var group: JobCount { JobCount(pipeline: pipeline, state: state, stage: stage, count: 0) }
}
