import Files
import Glibc
import PipelineKit
import SQLite
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// How jobs are found: nothing that is looked for takes longer because there are many jobs.
@Suite("Search for jobs", .timeLimit(.minutes(10))) struct JobSearchTests {
    private let scratch: ScratchFolder
    private let journal: SQLiteJournal

    init() throws {
        scratch = try ScratchFolder()
        journal = try SQLiteJournal.open(writing: scratch.path, durable: false)
    }

    private func database() throws -> Connection {
        try Connection(scratch.path("journal.sqlite").string, for: .writing)
    }

    struct Filter: Sendable, CustomTestStringConvertible {
        let testDescription: String
        let set: @Sendable (inout JobQuery) -> Void

        init(_ name: String, _ set: @escaping @Sendable (inout JobQuery) -> Void) {
            (testDescription, self.set) = (name, set)
        }
    }

    /// What the list of jobs can be filtered by.
    static let filters: [Filter] = [
        Filter("all") { _ in }, Filter("processed") { $0.states = [.processed] },
        Filter("failed") { $0.states = [.failed] },
        Filter("lost") { $0.states = [.lost] }, Filter("running") { $0.states = [.running] },
        Filter("unfinished") { $0.states = JobRecord.State.unfinished },
        Filter("several states") { $0.states = [.failed, .lost, .queued] }, Filter("pipeline") { $0.pipeline = "p3" },
        Filter("producer") { $0.producer = "u7" }, Filter("nobody's") { $0.producer = "nobody" },
        Filter("code") { $0.code = "c.5" }, Filter("no code") { $0.code = "c.none" },
        Filter("pattern") { $0.pattern = Glob("n*77.pdf") }, Filter("no name") { $0.pattern = Glob("nothing*") },
        Filter("time") { ($0.since, $0.until) = (Timestamp(nanoseconds: 300), Timestamp(nanoseconds: 900)) },
    ]

    /// So many jobs, of which two each were claimed at the same time.
    private func fill(_ count: Int) throws {
        let states =
            "CASE WHEN n % 1009 = 0 THEN 'lost' WHEN n % 7 = 0 THEN 'failed' WHEN n % 211 = 0 THEN 'running' "
            + "WHEN n % 97 = 0 THEN 'queued' ELSE 'processed' END"
        try database().execute(
            """
            INSERT INTO jobs (id, pipeline, name, size, dropped_at, device, inode, claimed_at, finished_at, state,
                stage, failures, recoveries, failure, definition, producer)
            WITH RECURSIVE numbers(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < \(count))
            SELECT printf('%026d', n), 'p' || (n % 10), CAST('n' || n || '.pdf' AS BLOB), n, n, 1, n, n / 2, n,
                \(states), 0, 0, 0,
                CASE WHEN n % 7 = 0
                    THEN '{"class":"file","code":"c.' || (n % 50) || '","summary":"s","remedy":"r"}' END,
                'd', 'u' || (n % 100)
            FROM numbers
            """)
    }

    private func query(_ filters: Filter..., limit: Int = 50) -> JobQuery {
        var query = JobQuery()
        query.limit = limit
        for filter in filters { filter.set(&query) }
        return query
    }

    @Test("Every filter, and every two together, go along an index and sort nothing", arguments: filters)
    func plans(filter: Filter) throws {
        defer { journal.close() }
        let database = try database()
        for other in Self.filters {
            for oldestFirst in [false, true] {
                var query = query(filter, other)
                query.isOldestFirst = oldestFirst
                for (sql, values) in JobSearch(query).statements {
                    var plan: [String] = []
                    try database.query("EXPLAIN QUERY PLAN \(sql)", values) { row in
                        plan.append(row.values.last?.text ?? "")
                        return true
                    }
                    #expect(plan.count == 1 && plan[0].contains(" USING "), "\(other.testDescription): \(plan) \(sql)")
                }
            }
        }
    }

    @Test("Pages, however little each looks at, have what all have, each once and in order", arguments: filters)
    func pages(filter: Filter) throws {
        defer { journal.close() }
        try fill(3000)
        for other in Self.filters {
            var query = query(filter, other, limit: .max)
            let all = try journal.jobs(query).map(\.id)
            #expect(try all == journal.jobs(JobQuery()).filter(query.matches).map(\.id))
            var found: [JobID] = []
            for _ in 0..<3000 {
                query.limit = 40
                let page = try journal.page(query, looking: 300)
                #expect(page.jobs.count <= 40)
                found += page.jobs.map(\.id)
                if page.jobs.count == 40, let last = page.jobs.last {
                    // The other one of its time has to come once more.
                    query.until = Timestamp(nanoseconds: last.claimedAt.nanoseconds + 1)
                    while found.last.flatMap({ id in page.jobs.first { $0.id == id } })?.claimedAt == last.claimedAt {
                        found.removeLast()
                    }
                } else if let horizon = page.horizon {
                    query.until = horizon
                } else {
                    break
                }
            }
            #expect(found == all, "\(other.testDescription)")
            found = []
            query = self.query(filter, other)
            try journal.forEachPage(query, of: 70) { page in
                found += page.map(\.id)
                return true
            }
            #expect(found == all.reversed(), "\(other.testDescription), oldest first")
        }
    }

    @Test(
        "With a million jobs a page takes as long as with a thousand", .enabled(if: getenv("DROPMILL_TORTURE") != nil))
    func million() throws {
        defer { journal.close() }
        func times() throws -> [String: Duration] {
            var times: [String: Duration] = [:]
            for filter in Self.filters {
                let all = try (0..<200).map { _ in
                    // What else the machine does counts for nothing.
                    let begun = MonotonicTime.spentByThread()
                    _ = try journal.page(query(filter))
                    return MonotonicTime.spentByThread() - begun
                }
                times[filter.testDescription] = all.sorted()[190]
            }
            return times
        }
        try fill(1000)
        let few = try times()
        try database().execute("DELETE FROM jobs")
        try fill(1_000_000)
        for (name, time) in try times() {
            #expect(time < .milliseconds(100), "\(name)")
            // Of what few have there was no page's worth among a thousand.
            #expect(time < (few[name, default: .zero] + few["all", default: .zero]) * 3, "\(name)")
        }
    }
}
