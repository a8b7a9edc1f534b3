import Files
import Journal
import PipelineKit
import SQLite
import SystemPackage

/// How jobs are looked for: along an index that has them in the order of time. What that leaves is passed over row by
/// row, and a page does so for only so many.
struct JobSearch {
    /// How many jobs a page looks at: three times as many as a small journal has, so that a large one takes no longer.
    static let most = 3000

    /// The indexes, by what leads to the fewest jobs.
    private enum Lead: String {
        case name = "jobs_of_name"
        case producer = "jobs_of_producer"
        case code = "jobs_of_code"
        case lost = "jobs_lost"
        case unfinished = "jobs_unfinished"
        case failed = "jobs_failed"
        case pipeline = "jobs_of_pipeline"
        case time = "jobs_claimed_at"

        /// Nil: what few jobs have, and SQLite finds the way; or what only a scan finds.
        init?(_ query: JobQuery) {
            let ids = [query.retryOf, query.replayOf, query.slot]
            guard ids.allSatisfy({ $0 == nil }), query.idPrefix == nil, query.original == nil,
                query.finishedSince == nil, query.left.isEmpty, !query.isOpen
            else { return nil }
            self =
                if query.name != nil {
                    .name
                } else if query.producer != nil {
                    .producer
                } else if query.code != nil {
                    .code
                } else if query.states == [.lost] {
                    .lost
                } else if !query.states.isEmpty, query.states.allSatisfy({ !$0.isFinal }) {
                    .unfinished
                } else if query.states == [.failed] {
                    .failed
                } else {
                    query.pipeline == nil ? .time : .pipeline
                }
        }
    }

    private struct Term {
        let sql: String
        /// Whether the index leads to what it says.
        let isLed: Bool
        let bind: (inout Parameters) -> Void
    }

    private let query: JobQuery
    private let lead: Lead?
    private var terms: [Term] = []

    init(_ query: JobQuery) {
        var query = query
        // There is an index of codes.
        if query.states == [.failed], query.isCancelled == true, query.code == nil { query.code = Failure.cancelCode }
        self.query = query
        lead = Lead(query)
        addStates()
        add("claimed_at >= ?", query.since, isLed: true) { $1.integer($0.nanoseconds) }
        add("claimed_at < ?", query.until, isLed: true) { $1.integer($0.nanoseconds) }
        add("pipeline = ?", query.pipeline, isLed: lead == .pipeline) { $1.text($0) }
        add("producer = ?", query.producer, isLed: lead == .producer) { $1.text($0) }
        add("name = ?", query.name, isLed: lead == .name) { $1.blob($0.bytes) }
        // The index of those that are open has their codes.
        let code = query.isOpen ? "code = ? AND open IS NOT NULL" : "\(JobRow.code) = ? AND failure IS NOT NULL"
        add(code, query.code, isLed: lead == .code) { $1.text($0) }
        if query.isOpen { add("open IS NOT NULL", ()) { _, _ in } }
        if query.states.isEmpty || query.states.contains(.failed),
            let isCancelled = query.isCancelled
        {
            let sql = "(state <> 'failed' OR coalesce(instr(failure, ?), 0) \(isCancelled ? ">" : "=") 0)"
            add(sql, Failure.cancelCode) { $1.text(JobRow.text(ofCode: $0)) }
        }
        add("coalesce(instr(failure, ?), 0) = 0", query.otherThan) { $1.text(JobRow.text(ofCode: $0)) }
        // A range, which the primary key finds; an id has no character as high as '~'.
        add("id >= ? AND id < ?", query.idPrefix) { prefix, values in
            values.text(prefix)
            values.text(prefix + "~")
        }
        add("slot = ?", query.slot) { $1.text($0.text) }
        // The words of the index.
        add("finished_at >= ? AND finished_at IS NOT NULL", query.finishedSince) { $1.integer($0.nanoseconds) }
        add("original = ?", query.original) { $1.blob($0) }
        add("retry_of = ?", query.retryOf) { $1.text($0.text) }
        add("replay_of = ?", query.replayOf) { $1.text($0.text) }
        guard !query.left.isEmpty else { return }
        let places = query.left.map { _ in "original = ? OR instr(outputs, ?) > 0" }.joined(separator: " OR ")
        add("\(JobRow.isOver) AND (\(places))", query.left) { paths, values in
            for path in paths {
                values.blob(path)
                values.text(Self.text(ofOutput: path))
            }
        }
    }

    /// As text of our own, not as arguments: partial indexes are found by their words only.
    private mutating func addStates() {
        guard !query.states.isEmpty else { return }
        if query.states.allSatisfy({ !$0.isFinal }) {
            add(JobRow.isUnfinished, (), isLed: lead == .unfinished) { _, _ in }
            guard Set(query.states) != Set(JobRecord.State.unfinished) else { return }
        }
        let words = query.states.map { "'\($0.rawValue)'" }
        let sql = words.count == 1 ? "state = \(words[0])" : "state IN (\(words.joined(separator: ", ")))"
        add(sql, (), isLed: lead == .lost || lead == .failed) { _, _ in }
    }

    private mutating func add<Value>(
        _ sql: String, _ value: Value?, isLed: Bool = false, _ bind: @escaping (Value, inout Parameters) -> Void
    ) {
        if let value { terms.append(Term(sql: sql, isLed: isLed) { bind(value, &$0) }) }
    }

    /// A path as it stands in the list of outputs.
    private static func text(ofOutput path: FilePath) -> String {
        var json = JSONText()
        json.array { $0.path(nil, path) }
        return String(json.string.dropFirst().dropLast())
    }

    /// The rest of a statement that selects from all jobs.
    private func statement(_ select: String, _ terms: [Term], _ limit: String?) -> (sql: String, Parameters) {
        var sql = select
        var values = Parameters()
        if let lead { sql += " INDEXED BY \(lead.rawValue)" }
        if !terms.isEmpty { sql += " WHERE " + terms.map(\.sql).joined(separator: " AND ") }
        for term in terms { term.bind(&values) }
        let order = query.isOldestFirst ? "ASC" : "DESC"
        sql += " ORDER BY claimed_at \(order), rowid \(order)"
        return (sql + (limit.map { " LIMIT \($0)" } ?? ""), values)
    }

    /// All that it runs for a page.
    var statements: [(sql: String, Parameters)] {
        [whole, names]
            + (isLoose ? [statement("SELECT claimed_at FROM jobs", terms.filter(\.isLed), "1 OFFSET 9")] : [])
    }

    private var whole: (sql: String, Parameters) {
        statement(JobRow.select, terms, query.limit.map { String(max(0, $0)) })
    }

    /// A pattern is not SQL's to match, and most rows need not be read whole for it.
    private var names: (sql: String, Parameters) { statement("SELECT rowid, name, folders FROM jobs", terms, nil) }

    func records(in db: Connection) throws -> [JobRecord] {
        guard let pattern = query.pattern else { return try SQLiteJournal.records(db, whole.sql, whole.1) }
        let limit = query.limit ?? .max
        guard limit > 0 else { return [] }
        var found: [Int64] = []
        try db.query(names.sql, names.1) { row in
            guard case .integer(let number) = row[0], case .blob(var path) = row[1] else { return true }
            if pattern.pattern.contains("/"), case .blob(let folders) = row[2] { path = folders + [0x2F] + path }
            if pattern.matches(path) { found.append(number) }
            return found.count < limit
        }
        return try found.flatMap { number in
            try SQLiteJournal.records(db, "\(JobRow.select) WHERE rowid = ?", Parameters([number]))
        }
    }

    /// Whether the index leads to jobs that do not match.
    private var isLoose: Bool { lead != nil && (query.pattern != nil || !terms.allSatisfy(\.isLed)) }

    /// When the job was claimed that lies behind so many others; nil where all can be looked at.
    func horizon(behind most: Int, in db: Connection) throws -> Timestamp? {
        guard isLoose else { return nil }
        let (sql, values) = statement(
            "SELECT claimed_at FROM jobs", terms.filter(\.isLed), "1 OFFSET \(max(1, most) - 1)")
        var horizon: Timestamp?
        try db.query(sql, values) { row in
            if case .integer(let nanoseconds) = row[0] { horizon = Timestamp(nanoseconds: nanoseconds) }
            return false
        }
        return horizon
    }
}
