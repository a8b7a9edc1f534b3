import Journal
import PipelineKit
import SQLite
import SystemPackage

/// The rows of the table `totals`: how many jobs of a pipeline are finished, by state. Those that were released are
/// none: they end as failed, and nothing has failed. What a transaction changes is added up and written once.
struct TotalRows {
    private struct Key: Hashable {
        let pipeline: String
        let state: String
    }

    private var changes: [Key: Int] = [:]
    private let search: Statement

    init(_ db: Connection) throws {
        search = try db.statement(
            """
            SELECT pipeline, state FROM jobs WHERE id = ? AND \(JobRow.isOver) \
            AND NOT (state = 'failed' AND coalesce(instr(failure, ?), 0) > 0)
            """)
    }

    /// Counts a job as its row has it: -1 before that is changed or removed, 1 after. Unfinished ones count nowhere.
    mutating func count(_ id: String, _ change: Int) throws {
        try search.query(Parameters([id, JobRow.text(ofCode: Failure.releaseCode)])) { row in
            var columns = ColumnReader(row)
            columns.subject = "job \(id)"
            changes[Key(pipeline: try columns.text("pipeline"), state: try columns.text("state")), default: 0] += change
            return false
        }
    }

    /// Counts a job that was in none so far, without a look at its row.
    mutating func count(_ job: JobRecord) {
        guard job.state.isFinal, !job.isReleased else { return }
        changes[Key(pipeline: job.pipeline, state: job.state.rawValue), default: 0] += 1
    }

    /// Writes what has changed; within the transaction.
    func write(to db: Connection) throws {
        let statement = try db.statement(
            """
            INSERT INTO totals (pipeline, state, count) VALUES (?, ?, ?) \
            ON CONFLICT (pipeline, state) DO UPDATE SET count = count + excluded.count
            """)
        for (key, change) in changes where change != 0 {
            try statement.run(key.pipeline, key.state, change)
        }
    }
}
