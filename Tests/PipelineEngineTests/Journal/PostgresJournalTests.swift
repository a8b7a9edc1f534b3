import Dispatch
import Files
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import PostgresJournal

/// What only a journal that nodes share has to do, on a server of its own.
@Suite("PostgreSQL journal", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresJournalTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
    }

    private func open(_ node: String, lease: Duration = .seconds(30), in place: String? = nil) throws -> PostgresJournal
    {
        try PostgresJournal.open(place ?? self.place, as: Incarnation(of: node, version: "1", lease: lease))
    }

    /// Ends a node's lease without its knowledge, as a long sleep would.
    private func oversleep(_ journal: PostgresJournal) throws {
        journal.keeping.withLock { $0?.stop() }
        let id = try #require(journal.incarnation?.id)
        try server.endLease(where: "incarnation = '\(id)'", in: place)
    }

    private func states(_ table: String) throws -> [String] {
        try server.ask("SELECT id || ' ' || state || ' ' || token FROM \(table) ORDER BY 1", in: place)
    }

    @Test("Two handles at once: each has its own jobs, and writes nothing of the other's")
    func twoHandles() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        let jobs = try (1...4).map { try JournalSamples.job($0) }
        #expect(try first.write([jobs[0], jobs[1]], pipelines: []) == [])
        #expect(try second.write([jobs[2]], intending: [jobs[3]], pipelines: []) == [])
        #expect(try first.unfinished() == Array(jobs[..<2]))
        #expect(try second.unfinished() == Array(jobs[2...]))
        var ended = jobs
        for place in ended.indices {
            (ended[place].state, ended[place].finishedAt) = (.processed, JournalSamples.time(9))
        }
        // What is its own is written all the same.
        #expect(try first.write(ended, pipelines: []) == [jobs[2].id, jobs[3].id])
        #expect(try first.jobs(JobQuery()).filter { $0.state == .processed }.map(\.id) == [jobs[1].id, jobs[0].id])
        #expect(try second.write(ended, pipelines: []) == [jobs[0].id, jobs[1].id])
        let reading = try PostgresJournal.open(reading: place)
        defer { reading.close() }
        #expect(try reading.finishedCount() == 4 && reading.unfinished().isEmpty)
        #expect(try reading.figures()["scans"]?.ended[.processed]?.jobs == 4)
        #expect(throws: JournalError.self) { try reading.write(jobs, pipelines: []) }
    }

    @Test("A job that is taken over has the next token, and belongs to its new node alone")
    func takeOver() throws {
        let (first, second, third) = (try open("a"), try open("b"), try open("c"))
        defer { [first, second, third].forEach { $0.close() } }
        let pipelines = [try JournalSamples.fullJob(1).pipeline]
        let jobs = try (1...3).map { try JournalSamples.fullJob($0) }.map { job in
            var job = job
            (job.state, job.finishedAt, job.failure) = (.settling, nil, nil)
            return job
        }
        try first.write(jobs, pipelines: [])
        let id = try #require(first.incarnation?.id)
        #expect(try second.takeOver(from: id, of: pipelines, with: nil, limit: 10).isEmpty, "it lives")
        try oversleep(first)
        _ = try second.markDead()
        #expect(try second.takeOver(from: id, of: ["others"], with: nil, limit: 10).isEmpty)
        #expect(try second.takeOver(from: id, of: pipelines, with: ["another"], limit: 10).isEmpty)
        #expect(
            try second.takeOver(from: id, of: pipelines, with: nil, limit: 2)
                == jobs[..<2].map { TakenJob($0, token: 1) })
        #expect(try third.takeOver(from: id, of: pipelines, with: nil, limit: 10) == [TakenJob(jobs[2], token: 1)])
        #expect(try third.takeOver(from: id, of: pipelines, with: nil, limit: 10).isEmpty)
        #expect(try second.unfinished() == Array(jobs[..<2]))
        var ended = jobs[0]
        (ended.state, ended.finishedAt) = (.processed, JournalSamples.time(9))
        #expect(try first.write([ended], pipelines: []) == [ended.id])
        #expect(try third.write([ended], pipelines: []) == [ended.id])
        #expect(try second.write([ended], pipelines: []) == [])
        #expect(try states("history") == ["\(ended.id) processed 1"])
        // Once more, and once more from the next.
        let word = try #require(second.incarnation?.id)
        try second.leave()
        #expect(try second.write([jobs[1]], pipelines: []) == [jobs[1].id])
        #expect(try third.takeOver(from: word, of: pipelines, with: nil, limit: 10).map(\.token) == [2])
        try third.release([jobs[2].id])
        #expect(try third.write([jobs[2]], pipelines: []) == [jobs[2].id])
        #expect(try third.markDead().contains { $0.incarnation == "released" && $0.jobs == 1 })
        #expect(try third.takeOver(from: "released", of: pipelines, with: nil, limit: 10).map(\.token) == [2])
        #expect(try third.write([jobs[2]], pipelines: []) == [])
    }

    @Test("A commit whose answer is lost is asked for, and is in force once", arguments: [false, true])
    func commitUnknown(isOver: Bool) throws {
        let scratch = try ScratchFolder()
        let (socket, real) = (".s.PGSQL.5432", server.folder.appending(".s.PGSQL.5432"))
        let proxy = try SocketProxy(at: scratch.path(socket), before: real)
        defer { proxy.stop() }
        let journal = try open("a", in: place.replacing("host=\(server.folder)", with: "host=\(scratch.path)"))
        defer { journal.close() }
        var job = try JournalSamples.job(1)
        try journal.write([job], pipelines: [])
        (job.state, job.finishedAt) = isOver ? (.processed, JournalSamples.time(2)) : (.settling, nil)
        proxy.swallow()
        #expect(try journal.write([job], pipelines: []) == [])
        #expect(proxy.swallowed == 1)
        #expect(try journal.job(job.id) == job.on("a"))
        #expect(try journal.figures()["scans"]?.ended[.processed]?.jobs ?? 0 == (isOver ? 1 : 0))
        #expect(try journal.counts().map(\.count) == [1])
        // And where the node was marked dead by then, the end counts: it was written.
        try oversleep(journal)
        let other = try open("b")
        defer { other.close() }
        #expect(try other.markDead().map(\.name) == ["a"])
        #expect(try journal.write([job], pipelines: []) == (isOver ? [] : [job.id]))
    }

    @Test("What was given up and arrives late changes nothing")
    func late() async throws {
        let scratch = try ScratchFolder()
        let socket = ".s.PGSQL.5432"
        let proxy = try SocketProxy(at: scratch.path(socket), before: server.folder.appending(socket))
        defer { proxy.stop() }
        // Reaches the server on two ways, as after a reconnection.
        let slow = try open("a", in: place.replacing("host=\(server.folder)", with: "host=\(scratch.path)"))
        defer { slow.close() }
        let incarnation = try #require(slow.incarnation)
        let direct = PostgresConnection(to: try PostgresPlace(place), as: "direct")
        defer { direct.close() }
        var job = try JournalSamples.job(1)
        try slow.write([job], pipelines: [])
        proxy.hold()
        let jobs = [job]
        async let late = withCheckedContinuation { done in
            DispatchQueue.global().async {
                done.resume(returning: Result { () throws(JournalError) in try slow.write(jobs, pipelines: []) })
            }
        }
        // What it sent is on its way; meanwhile the same, and what follows, goes another one.
        (job.state, job.finishedAt) = (.processed, JournalSamples.time(2))
        _ = try direct.query(JobBatch([job]).query(by: incarnation, [:], in: 3))
        proxy.mend()
        _ = await late
        #expect(try slow.job(job.id)?.state == .processed)
        #expect(try slow.unfinished() == [])
    }

    @Test("Of eight that ask for the same content at once, one is the first")
    func firstOfEight() async throws {
        let journals = try (0..<8).map { try open("node \($0)") }
        defer { journals.forEach { $0.close() } }
        for round in 0..<10 {
            let firsts = Mutex(0)
            DispatchQueue.concurrentPerform(iterations: 8) { number in
                guard let job = try? JournalSamples.id(number + 1) else { return }
                let query = SeenQuery("sha256:\(round)", job: job, pipeline: "a", everywhere: true, since: nil)
                let found = Result { try journals[number].first(query, at: JournalSamples.time(1)) }
                if case .success(nil) = found { firsts.withLock { $0 += 1 } }
            }
            #expect(firsts.withLock { $0 } == 1)
        }
    }

    @Test("With 50,000 jobs that are not over, what is written again and again reads none but its own")
    func plans() throws {
        let journal = try open("a")
        defer { journal.close() }
        let id = try #require(journal.incarnation?.id)
        let jobs = try (1...50).map { try JournalSamples.job($0) }
        try journal.write(jobs, pipelines: [])
        _ = try server.ask(
            """
            INSERT INTO unfinished
                (id, node, token, pipeline, state, stage, name, claimed_at, inode, size, definition, record)
                SELECT 'X' || n, '\(id)', 0, 'p', 'queued', 0, 'a', n, n, 1, 'd', repeat('x', 600)
                FROM generate_series(1, 50000) AS n;
            ANALYZE
            """, in: place)
        var ended = jobs
        for place in 0..<25 { (ended[place].state, ended[place].finishedAt) = (.processed, JournalSamples.time(9)) }
        for (number, batch) in [jobs, ended].enumerated() {
            let query = JobBatch(batch).query(by: try #require(journal.incarnation), [:], in: Int64(100 + number))
            var sql = query.sql
            for (number, value) in query.values.enumerated().reversed() {
                let text = value.map { "'\($0.replacing("'", with: "''"))'" } ?? "NULL"
                sql = sql.replacing("$\(number + 1)", with: text)
            }
            let plans = try server.ask(
                """
                LOAD 'auto_explain'; SET auto_explain.log_min_duration = 0;
                SET auto_explain.log_nested_statements = on; SET client_min_messages = log; \(sql)
                """, in: place)
            #expect(plans.contains { $0.contains("unfinished") })
            #expect(!plans.contains { $0.contains("Seq Scan on unfinished") }, "\(plans.joined(separator: "\n"))")
        }
    }

    @Test("A day of which nothing is left is dropped")
    func days() throws {
        let journal = try open("a")
        defer { journal.close() }
        let before = Timestamp(nanoseconds: Timestamp.now().nanoseconds - 10 * 86_400_000_000_000)
        try Partitions.make(journal, at: before)
        var job = try JournalSamples.job(1, state: .processed)
        job.id = JobID.first(at: before)
        try journal.write([job], pipelines: [])
        let day = "history_" + before.formatted("%Y%m%d", utc: true)
        #expect(try server.ask("SELECT tableoid::regclass FROM history", in: place) == [day])
        while try journal.giveBack() {}
        #expect(try journal.job(job.id) != nil)
        #expect(try journal.prune(finishedBefore: .now()) == 1)
        while try journal.giveBack() {}
        #expect(try server.ask("SELECT to_regclass('\(day)') IS NULL", in: place) == ["t"])
    }

    @Test("What is not there, too old or too new is refused with what is needed")
    func refusals() throws {
        let missing = #expect(throws: JournalError.self) { try PostgresJournal.open(reading: place) }
        #expect(missing?.kind == .missing && missing?.message.contains("'dropmill journal init'") ?? false)
        #expect(PostgresError.refusal(ofServer: 140_000) == nil)
        #expect(
            PostgresError.refusal(ofServer: 130_012)
                == .unfit("the server is PostgreSQL 13.12, and 14.0 or newer is needed; upgrade the server"))
        try open("a").close()
        _ = try server.ask("INSERT INTO migrations VALUES ('99 beyond')", in: place)
        for open in [{ try open("b") }, { try PostgresJournal.open(reading: place) }] {
            let newer = #expect(throws: JournalError.self) { try open() }
            #expect(newer?.kind == .newer && newer?.message.contains("'99 beyond'") ?? false)
        }
        let absent = place.replacing("dbname=postgres", with: "dbname=nowhere")
        let gone = #expect(throws: JournalError.self) { try open("a", in: absent) }
        #expect(gone?.kind == .newer && gone?.message.contains("nowhere") ?? false)
        let strange = #expect(throws: JournalError.self) { try open("a", in: "postgresql://h/?nothing=1") }
        #expect(strange?.kind == .newer && strange?.message.contains("nothing") ?? false)
    }

    @Test("No password is told")
    func passwords() throws {
        let place = try PostgresPlace("postgresql://anna:secret@db.example:5433/mill?sslmode=require")
        #expect(place.text == "postgresql://anna@db.example:5433/mill")
        #expect(try PostgresPlace("service=mill password=secret").text == "service=mill")
    }

    @Test("Nodes that open it at once make one schema")
    func openedAtOnce() throws {
        let failures = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 6) { number in
            do { try open("node \(number)").close() } catch { failures.withLock { $0.append("\(error)") } }
        }
        #expect(failures.withLock { $0 } == [])
        #expect(try server.ask("SELECT count(*) FROM migrations", in: place) == ["\(Schema.steps.count)"])
    }

    @Test("Messages, what was told of them, and changes come back")
    func people() throws {
        let journal = try open("a")
        defer { journal.close() }
        var notice = Notice(
            rule: "r", event: "failed", pipeline: "p", state: .begun, title: "'t'", text: "→\n", since: .now())
        let standing = NoticeStanding(.init(rule: "r", event: "e", pipeline: ""), value: "{}")
        var change = OutboxChange()
        (change.notices, change.standings) = ([notice], [standing])
        try journal.change(change)
        notice.tries = 2
        change.notices = [notice]
        try journal.change(change)
        #expect(try journal.outbox().notices == [notice] && journal.outbox().standings == [standing])
        _ = try server.ask("UPDATE outbox SET content = 'x'", in: place)
        #expect(try journal.outbox().unreadable == 1 && journal.outbox().notices.isEmpty)
        (change.notices, change.standings, change.forgotten) = ([], [], [standing.key])
        try journal.change(change)
        #expect(try journal.outbox().standings.isEmpty)

        var entry = AuditEntry(
            at: JournalSamples.time(5), user: 7, name: "anna", verb: "retry", arguments: #"{"a":"b"}"#,
            behalf: Behalf(name: "web", role: "operator", address: "::1"))
        entry.number = try journal.beginAudit(entry)
        try journal.endAudit(try #require(entry.number), result: "done")
        entry.result = "done"
        var query = AuditQuery(limit: 9)
        #expect(try journal.audit(query) == [entry])
        (query.user, query.verb, query.with, query.without, query.text) = ("7", "retry", "\"a\"", "z", "OPERATOR")
        query.since = JournalSamples.time(4)
        #expect(try journal.audit(query) == [entry])
        query.before = entry.number
        #expect(try journal.audit(query).isEmpty)

        var jobs = try (1...3).map { try JournalSamples.job($0, state: .failed) }
        jobs[2].failure = .calledOff(by: "anna")
        try journal.write(jobs, pipelines: [])
        let recent = try journal.failures(of: "scans", after: JournalSamples.time(2))
        #expect(recent.open == 1 && recent.newest?.id == jobs[1].id && recent.last == jobs[1].finishedAt)
        #expect(try journal.failureCount(of: "scans", after: JournalSamples.time(0)) == 2)
        #expect(try journal.room().used > 0)
        try journal.probe()
    }

    @Test("An engine works with it as with any other, until another node takes its jobs over")
    func engine() async throws {
        let scratch = try ScratchFolder()
        let isHeld = Atomic(true)
        let stage = StageEntry.fake { (payload, context) throws(Failure) in
            while context.job.drop.name.text == "slow", isHeld.load(ordering: .relaxed),
                !context.work.cancellation.isCancelled
            {}
            if context.work.cancellation.isCancelled { throw .cancelled }
            return payload
        }
        let harness = try EngineHarness(scratch: scratch, stages: [stage])
        let words = place
        try harness.drop("slow")
        try harness.start(
            journal: PostgresStore(words) { @Sendable in Incarnation(of: "a", version: "1") })
        let slow = try await harness.job("slow")
        let (second, reading) = (try open("b"), try PostgresJournal.open(reading: place))
        defer { [second, reading].forEach { $0.close() } }
        #expect(await eventually { (try? reading.job(slow))??.state == .running })
        // It sleeps for longer than its lease, and wakes up.
        try server.endLease(where: "name = 'a'", in: place)
        let dead = try #require(try second.markDead().first)
        #expect(
            try second.takeOver(from: dead.incarnation, of: ["test"], with: nil, limit: 9).map(\.record.id) == [slow])
        isHeld.store(false, ordering: .relaxed)
        #expect(await eventually { harness.warnings.contains { $0.contains("taken over by another node") } })
        #expect(try scratch.tree("processed") == [])
        #expect(harness.reports.isEmpty)
        #expect(try scratch.tree(".dropmill/test/nodes").contains { $0.hasSuffix("/slow") })
        _ = await harness.stop()
        #expect(try states("unfinished") == ["\(slow) running 1"])
    }
}
