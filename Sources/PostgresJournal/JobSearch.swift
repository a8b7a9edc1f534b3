import Files
import Journal
import PipelineKit
import SystemPackage

/// How jobs are looked for: what columns tell the server finds, and what only a record tells is passed over here.
struct JobSearch {
    /// How many are read at a time where some are passed over.
    private static let step = 1000

    private let query: JobQuery
    /// Whether the server does not know all that is asked for.
    private var passesOver: Bool
    private var terms: [String] = []
    private var values: [(any PostgresValue)?] = []

    /// `roots`: by which pipelines have paths on record.
    init(_ query: JobQuery, _ roots: some Sequence<PathRoots> = []) {
        self.query = query
        passesOver = query.pattern != nil || !query.left.isEmpty
        if !query.states.isEmpty { add("state = ANY (", PostgresColumn(query.states.map(\.rawValue)), "::text[])") }
        add("pipeline = ", query.pipeline)
        add("producer = ", query.producer)
        add("id >= ", query.idPrefix)
        // An id has no character as high as that.
        add("id < ", query.idPrefix.map { $0 + "~" })
        add("name = ", query.name?.bytes, "::bytea")
        add("slot = ", query.slot?.text)
        add("claimed_at >= ", query.since?.nanoseconds)
        add("claimed_at < ", query.until?.nanoseconds)
        add("finished_at >= ", query.finishedSince?.nanoseconds)
        add("code = ", query.code)
        add("code IS DISTINCT FROM ", query.otherThan)
        if let original = query.original {
            let paths = Set(roots.map { $0.relative(original) }).union([original])
            add("original = ANY (", PostgresColumn(paths.map { Array($0.bytes) }), "::bytea[])")
            // Another pipeline has another path by the same words.
            passesOver = passesOver || paths.count > 1
        }
        add("retry_of = ", query.retryOf?.text)
        add("replay_of = ", query.replayOf?.text)
        if query.isOpen { terms.append("open IS NOT NULL") }
        if let isCancelled = query.isCancelled {
            add("(state <> 'failed' OR code IS \(isCancelled ? "NOT " : "")DISTINCT FROM ", Failure.cancelCode, ")")
        }
    }

    private mutating func add(_ start: String, _ value: (any PostgresValue)?, _ end: String = "") {
        guard let value else { return }
        values.append(value)
        terms.append("\(start)$\(values.count)\(end)")
    }

    /// `find` has the server answer.
    func records(
        _ find: (PostgresQuery) throws(JournalError) -> [JobRecord]
    ) throws(JournalError) -> [JobRecord] {
        let limit = max(0, query.limit ?? .max)
        guard passesOver else { return try find(statement(behind: nil, limit)) }
        var (found, last): ([JobRecord], JobRecord?) = ([], nil)
        while found.count < limit {
            let page = try find(statement(behind: last, Self.step))
            found += page.filter(matches)
            guard page.count == Self.step else { break }
            last = page.last
        }
        return Array(found.prefix(limit))
    }

    private func matches(_ job: JobRecord) -> Bool {
        var rest = JobQuery()
        (rest.pattern, rest.left, rest.original) = (query.pattern, query.left, query.original)
        return rest.matches(job)
    }

    func statement(behind last: JobRecord?, _ limit: Int) -> PostgresQuery {
        var (terms, values) = (terms, values)
        if let last {
            values += [last.claimedAt.nanoseconds, last.id.text]
            let order = query.isOldestFirst ? ">" : "<"
            terms.append("(claimed_at, id) \(order) ($\(values.count - 1), $\(values.count))")
        }
        let condition = terms.isEmpty ? "" : " WHERE " + terms.joined(separator: " AND ")
        let order = query.isOldestFirst ? "ASC" : "DESC"
        return PostgresQuery(
            "\(JobColumns.select)\(condition) ORDER BY claimed_at \(order), id \(order)"
                + (limit == .max ? "" : " LIMIT \(limit)"), values)
    }
}
