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
        try read { db in try Self.jobs(query, in: db) }
    }

    package func page(_ query: JobQuery) throws(JournalError) -> JobPage { try page(query, looking: JobSearch.most) }

    /// `looking`: at how many jobs at most that an index leads to.
    func page(_ query: JobQuery, looking most: Int) throws(JournalError) -> JobPage {
        try read { db in
            var query = query
            let horizon = try JobSearch(query).horizon(behind: most, in: db)
            if let horizon { query.since = horizon }
            return JobPage(jobs: try Self.jobs(query, in: db), horizon: horizon)
        }
    }

    private static func jobs(_ query: JobQuery, in db: Connection) throws -> [JobRecord] {
        let rows = try JobSearch(query).records(in: db)
        let others = try SettlementRow.all(db).flatMap(\.jobs).filter(query.matches)
        guard !others.isEmpty else { return rows }
        let all = (others + rows).sorted {
            query.isOldestFirst ? $0.claimedAt < $1.claimedAt : $0.claimedAt > $1.claimedAt
        }
        return Array(all.prefix(query.limit.map { max(0, $0) } ?? .max))
    }

    package func counts() throws(JournalError) -> [JobCount] {
        let sql = """
            SELECT pipeline, state, stage, count(*) FROM jobs INDEXED BY jobs_unfinished
            WHERE \(JobRow.isUnfinished) GROUP BY 1, 2, 3
            UNION ALL SELECT pipeline, CASE state WHEN '\(TotalRows.open)' THEN 'failed' ELSE state END, 0, count
            FROM totals WHERE state <> 'failed' AND count > 0
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

    package func openFailures() throws(JournalError) -> [String: Int] {
        try read { db in
            let rows = try Self.rows(
                db, "SELECT pipeline, count FROM totals WHERE state = ?", Parameters([TotalRows.open])
            ) { columns throws(JournalError) in
                (try columns.text("pipeline"), Int(clamping: try columns.integer("count")))
            }
            return Dictionary(rows) { $1 }.mapValues { max(0, $0) }
        }
    }

    package func figures() throws(JournalError) -> [String: Figures] { try read { db in try FigureRows.all(in: db) } }

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
