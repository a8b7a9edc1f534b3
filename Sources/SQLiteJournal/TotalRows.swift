import Journal
import PipelineKit
import SQLite
import SystemPackage

/// The rows of the table `totals`: how many jobs of a pipeline are finished, by state. Those that were released are
/// none: they end as failed, and nothing has failed. What a transaction changes is added up and written once.
///
/// Beside these are, as if it were a state, those of the failed ones that are open: neither sent in again
/// nor dismissed.
struct TotalRows {
    /// The word for these in the table.
    static let open = "open"

    private struct Key: Hashable {
        let pipeline: String
        let state: String
    }

    private var changes: [Key: Int] = [:]
    private var failures = FailureRows()
    private let search: Statement

    init(_ db: Connection) throws {
        search = try db.statement(
            """
            SELECT pipeline, state, open, code, size FROM jobs WHERE id = ? AND \(JobRow.isOver) \
            AND NOT (state = 'failed' AND coalesce(instr(failure, ?), 0) > 0)
            """)
    }

    /// Counts a job as its row has it: -1 before that is changed or removed, 1 after. Unfinished ones count nowhere.
    /// Returns the state that it counted as.
    @discardableResult
    mutating func count(_ id: String, _ change: Int) throws -> String? {
        var counted: String?
        try search.query(Parameters([id, JobRow.text(ofCode: Failure.releaseCode)])) { row in
            var columns = ColumnReader(row)
            columns.subject = "job \(id)"
            let (pipeline, state) = (try columns.text("pipeline"), try columns.text("state"))
            changes[Key(pipeline: pipeline, state: state), default: 0] += change
            if let time = try columns.optionalTime("open") {
                let code = try columns.optionalText("code") ?? ""
                add(change, open: .init(pipeline: pipeline, code: code, at: time, size: try columns.integer("size")))
            }
            counted = state
            return false
        }
        return counted
    }

    /// Counts a failure that is open from now on, or is not any more.
    mutating func add(_ change: Int, open failure: FailureRows.Failure) {
        changes[Key(pipeline: failure.pipeline, state: Self.open), default: 0] += change
        failures.add(change, failure)
    }

    /// Counts a job that was in none so far, without a look at its row.
    mutating func count(_ job: JobRecord) {
        guard job.state.isFinal, !job.isReleased else { return }
        changes[Key(pipeline: job.pipeline, state: job.state.rawValue), default: 0] += 1
        if job.hasFailed { add(1, open: .init(job)) }
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
        try failures.write(to: db)
    }
}
