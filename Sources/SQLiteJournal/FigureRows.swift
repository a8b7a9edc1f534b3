import Files
import Journal
import SQLite

/// The rows of the table `figures`: what has become of each pipeline's jobs. Written by the transaction that ends jobs,
/// once for all of them.
struct FigureRows {
    /// All of them as this process read or wrote them last.
    struct Known: Sendable {
        /// `PRAGMA data_version` at that moment; it changes when another connection writes.
        let version: Int64
        fileprivate(set) var all: [String: Figures]
        /// The day of the job that was counted last.
        fileprivate var day: HostDay?
    }

    private(set) var known: Known?
    private var isCurrent = false
    private var changed: Set<String> = []

    init(after known: Known?) { self.known = known }

    /// All rows. One that cannot be read counts as empty: these are statistics, and no job depends on them.
    static func all(in db: Connection) throws -> [String: Figures] {
        let rows = try SQLiteJournal.rows(db, "SELECT pipeline, value FROM figures") { columns throws(JournalError) in
            (try columns.text("pipeline"), Figures(json: try columns.text("value")) ?? Figures())
        }
        return Dictionary(rows) { first, _ in first }
    }

    /// A monitor keeps a series for each code.
    private static let mostCodes = 50

    /// Counts a job that has just ended; within the transaction that says so.
    mutating func add(_ job: JobRecord, in db: Connection) throws {
        if !isCurrent {
            let version = try db.first("PRAGMA data_version")?.first?.integer ?? 0
            if known?.version != version { known = Known(version: version, all: try Self.all(in: db)) }
            isCurrent = true
        }
        let code = code(of: job)
        let end = job.finishedAt ?? .now()
        let day = known?.day.flatMap { $0.contains(end) ? $0 : nil } ?? HostDay(of: end)
        known?.day = day
        known?.all[job.pipeline, default: Figures()].add(job, code: code, on: day)
        changed.insert(job.pipeline)
    }

    /// Nil for its own.
    private func code(of job: JobRecord) -> String? {
        guard job.state == .failed, let code = job.failure?.code, let all = known?.all.values else { return nil }
        let codes = Set(all.flatMap { $0.failures.keys.lazy.map(\.code) })
        return codes.count < Self.mostCodes || codes.contains(code) ? nil : "other"
    }

    /// Writes what has changed; within the transaction.
    func write(to db: Connection) throws {
        guard !changed.isEmpty else { return }
        let statement = try db.statement(
            """
            INSERT INTO figures (pipeline, value) VALUES (?, ?) \
            ON CONFLICT (pipeline) DO UPDATE SET value = excluded.value
            """)
        for pipeline in changed {
            if let figures = known?.all[pipeline] { try statement.run(pipeline, figures.json) }
        }
    }
}
