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

/// What hosts that share a journal have in common: paths, shares, and what one of them does for all.
@Suite("Hosts", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct PostgresHostTests {
    private let server: PostgresServer
    private let place: String

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
    }

    private func open(_ node: String, on host: String? = nil, in place: String? = nil) throws -> PostgresJournal {
        try PostgresJournal.open(
            place ?? self.place, as: Incarnation(of: node, on: host ?? "host of \(node)", version: "1"))
    }

    private func roots(below above: FilePath) -> PathRoots {
        PathRoots([
            (name: "inbox", path: above.appending("in")), (name: "failed", path: above.appending("failed")),
            (name: "work", path: above.appending("in").appending(".dropmill").appending("scans")),
        ])
    }

    /// A job with paths below the folders of a host that has them there, and one elsewhere.
    private func job(_ number: Int, below above: FilePath) throws -> JobRecord {
        var job = try JournalSamples.job(number, state: .settling)
        let folder = above.pushing("in/.dropmill/scans/active/X")
        job.payload = Payload(folder: folder.appending("1"))
        job.intents = [
            Intent(
                role: .original, source: folder.appending("a"), target: above.pushing("failed/a"),
                identity: job.identity),
            Intent(role: .output, source: folder.appending("b"), target: "/elsewhere/b", identity: job.identity),
        ]
        return job
    }

    private func failed(_ job: JobRecord, at path: FilePath) -> JobRecord {
        var job = job
        (job.state, job.finishedAt, job.intents, job.payload) = (.failed, JournalSamples.time(9), [], nil)
        job.original = path
        return job
    }

    @Test("Each host reads paths as its own, and who is none of them as the one that was told last")
    func paths() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        first.know(roots(below: "/srv"), of: "scans")
        second.know(roots(below: "/mnt/mill"), of: "scans")
        let (here, there) = (try job(1, below: "/srv"), try job(1, below: "/mnt/mill"))
        #expect(here != there)
        try first.write([here], pipelines: [])
        #expect(try first.unfinished() == [here] && first.job(here.id) == here.on("a"))
        // That it knows its folders is on record with its first job.
        try second.write([], pipelines: [JournalSamples.pipeline("scans")])
        #expect(try second.job(here.id) == there.on("a"))
        #expect(try server.ask("SELECT count(*) FROM unfinished WHERE record ~ '/srv|/mnt'", in: place) == ["0"])
        #expect(try server.ask("SELECT record ~ '/elsewhere/b' FROM unfinished", in: place) == ["t"])
        for (host, record) in [("host of a", here), ("host of b", there), ("another", there)] {
            let reading = try PostgresJournal.open(reading: place, on: host)
            defer { reading.close() }
            #expect(try reading.unfinished() == [record], "\(host)")
        }
        // It goes with the job.
        try first.leave()
        let dead = first.incarnationID
        #expect(
            try second.takeOver(from: dead, of: ["scans"], with: nil, limit: 9) == [TakenJob(there, token: 1)])
        let over = failed(there, at: "/mnt/mill/failed/a")
        let asking = try PostgresJournal.open(reading: place, on: "another")
        defer { asking.close() }
        #expect(try asking.job(there.id)?.node == "b", "who has it")
        #expect(try second.write([over], pipelines: []) == [])
        #expect(try first.job(over.id)?.node == "b", "who had it")
        #expect(try first.job(over.id)?.original == "/srv/failed/a")
        // Its folders are elsewhere from now on.
        second.know(roots(below: "/new"), of: "scans")
        #expect(try second.job(over.id)?.original == "/new/failed/a")
        try second.write([], pipelines: [JournalSamples.pipeline("scans")])
        #expect(try asking.job(over.id)?.original == "/new/failed/a")
    }

    @Test("A job is found by where its original is on the asking host")
    func originals() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        for (journal, above) in [(first, FilePath("/srv")), (second, FilePath("/mnt/mill"))] {
            journal.know(roots(below: above), of: "scans")
            journal.know(roots(below: above.appending("others")), of: "others")
            try journal.write([], pipelines: [JournalSamples.pipeline("scans")])
        }
        // The same words, in two pipelines; and one in no folder.
        var jobs = [
            try JournalSamples.job(1), try JournalSamples.job(2, pipeline: "others"), try JournalSamples.job(3),
        ]
        for (place, path) in ["/srv/failed/a", "/srv/others/failed/a", "/else/a"].enumerated() {
            jobs[place] = failed(jobs[place], at: FilePath(path))
        }
        try first.write(jobs, pipelines: [])
        let reading = try PostgresJournal.open(reading: place, on: "host of a")
        defer { reading.close() }
        func found(_ path: FilePath, by journal: PostgresJournal) throws -> [JobRecord] {
            var query = JobQuery()
            (query.states, query.original, query.limit) = ([.failed], path, 1)
            return try journal.jobs(query)
        }
        for journal in [first, reading] {
            #expect(try found("/srv/failed/a", by: journal) == [jobs[0].on("a")])
            #expect(try found("/srv/others/failed/a", by: journal) == [jobs[1].on("a")])
            #expect(try found("/mnt/mill/failed/a", by: journal) == [])
        }
        #expect(try found("/mnt/mill/failed/a", by: second).map(\.id) == [jobs[0].id])
        #expect(try found("/mnt/mill/others/failed/a", by: second).map(\.id) == [jobs[1].id])
        for journal in [first, second, reading] { #expect(try found("/else/a", by: journal) == [jobs[2].on("a")]) }
        var query = JobQuery()
        query.left = ["/mnt/mill/others/failed/a"]
        #expect(try second.jobs(query).map(\.id) == [jobs[1].id])
    }

    @Test("A file that is sent in again on one host is known on whichever claims it")
    func retries() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        first.know(roots(below: "/srv"), of: "scans")
        second.know(roots(below: "/mnt/mill"), of: "scans")
        let job = failed(try JournalSamples.job(1), at: "/srv/failed/a")
        try first.write([job], pipelines: [])
        var again = try JournalSamples.job(2)
        var file = JournalSamples.file(of: again)
        file.inbox = "/srv/in"
        try first.noteRetry(of: job.id, as: file)
        // The share is another device there.
        again.identity.device += 7
        var record = JournalSamples.pipeline("scans")
        record.inbox = "/mnt/mill/in"
        var other = try JournalSamples.job(3, pipeline: "others")
        other.identity = again.identity
        other.drop = again.drop
        try second.write([other], pipelines: [record])
        try second.write([again], pipelines: [])
        #expect(try second.job(other.id)?.retryOf == nil)
        #expect(try second.job(again.id)?.retryOf == job.id)
        #expect(try first.sentIn().isEmpty)
    }

    @Test("Nodes that live agree on the word of a share; where none does the next one has its own")
    func shares() throws {
        let journals = try (0..<6).map { try open("node \($0)") }
        defer { journals.forEach { $0.close() } }
        let words = Mutex<Set<String>>([])
        DispatchQueue.concurrentPerform(iterations: 6) { number in
            let word = (try? journals[number].share(of: "scans", proposing: "word \(number)")) ?? "none"
            words.withLock { _ = $0.insert(word) }
        }
        let word = try #require(words.withLock { $0.first })
        #expect(words.withLock { $0.count } == 1 && word.hasPrefix("word"))
        #expect(try journals[0].share(of: "others", proposing: "x") == "x", "each has its own")
        for journal in journals[..<5] { try journal.leave() }
        let late = try open("late")
        defer { late.close() }
        #expect(try late.share(of: "scans", proposing: "late") == word)
        // One whose lease is over may come back, as long as it is not marked dead.
        for journal in [late, journals[5]] { journal.stopKeeping() }
        try server.endLease(where: "dead_at IS NULL", in: place)
        let other = try open("other")
        defer { other.close() }
        #expect(try other.share(of: "scans", proposing: "other") == word)
        try other.leave()
        let judge = try open("judge")
        defer { judge.close() }
        _ = try judge.markDead()
        let last = try open("last")
        defer { last.close() }
        #expect(try last.share(of: "scans", proposing: "last") == "last")
        #expect(try last.share(of: "scans", proposing: "new") == "new", "it is alone")
    }

    @Test("How the pipelines of each node stand")
    func standings() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        var paused = JournalSamples.pipeline("scans")
        paused.paused = Failure(.environment, code: "disk", summary: "Full.", remedy: "Free space.")
        try first.write([], pipelines: [JournalSamples.pipeline("scans"), JournalSamples.pipeline("more")])
        try second.write([], pipelines: [paused])
        let expected = ["a": [JournalSamples.pipeline("more"), JournalSamples.pipeline("scans")], "b": [paused]]
        #expect(try first.standings() == expected)
        let reading = try PostgresJournal.open(reading: place)
        defer { reading.close() }
        #expect(try reading.standings() == expected)
    }

    @Test("One node does for all what is to be done once, until it is gone or asks no more")
    func duties() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        let folder = KeptFolder("scans", .failed, "/failed")
        #expect(first.mayTell() && !second.mayTell() && first.mayTell())
        #expect(second.mayForget() && !first.mayForget())
        #expect(first.mayRemove(from: folder) && !second.mayRemove(from: folder))
        #expect(second.mayRemove(from: KeptFolder("scans", .processed, "/done")))
        _ = try server.ask("UPDATE duties SET until = now() WHERE name = 'notifications'", in: place)
        #expect(second.mayTell() && !first.mayTell())
        // One that sleeps for longer than its lease has none.
        try server.endLease(where: "name = 'b'", in: place)
        #expect(first.mayTell() && !second.mayTell())
        try first.leave()
        #expect(!first.mayTell() && second.mayRemove(from: folder))
        let reading = try PostgresJournal.open(reading: place)
        defer { reading.close() }
        #expect(!reading.mayTell())
    }

    @Test("Jobs leave the history by one node")
    func history() throws {
        let (first, second) = (try open("a"), try open("b"))
        defer { [first, second].forEach { $0.close() } }
        try first.write(try (1...10).map { try JournalSamples.job($0, state: .processed) }, pipelines: [])
        let keepers = [first, second].map { journal in
            HistoryKeeper(
                journal, HistoryRule(.seconds(100)), memory: .zero, seen: nil, archive: nil, observer: { _ in })
        }
        #expect(second.mayForget())
        try keepers[0].run(at: JournalSamples.time(500))
        #expect(try first.finishedCount() == 10)
        try keepers[1].run(at: JournalSamples.time(500))
        #expect(try first.finishedCount() == 0)
    }

    @Test("A role that makes no tables runs a node once it was given the rights, and is told before")
    func roles() throws {
        let role = "runner \"of\" " + String(place.split(separator: "=").last ?? "")
        _ = try server.ask("CREATE ROLE \"\(role.replacing("\"", with: "\"\""))\" LOGIN", in: place)
        let own = place.replacing("user=tests", with: "user='\(role)'")
        func refused() throws -> String {
            let error = #expect(throws: JournalError.self) { try open("a", in: own) }
            #expect(error?.kind == .newer && error?.message.contains("'dropmill journal init'") ?? false)
            return error?.message ?? ""
        }
        _ = try refused()
        let schema = String(place.split(separator: "=").last ?? "")
        _ = try server.ask("GRANT USAGE ON SCHEMA \(schema) TO \"\(role.replacing("\"", with: "\"\""))\"", in: place)
        #expect(try refused().contains("permission denied"))
        _ = try PostgresJournal.prepare(place, isThere: false, granting: [role])
        _ = try PostgresJournal.prepare(place, isThere: false, granting: [role])
        let journal = try open("a", in: own)
        defer { journal.close() }
        _ = try journal.beginRun(RunRecord(boot: "b", process: 1, startedAt: .now()))
        // A day that nobody has made yet, and that nothing is in.
        let before = Timestamp(nanoseconds: Timestamp.now().nanoseconds - 10 * 86_400_000_000_000)
        try Partitions.make(journal, at: before)
        var job = try JournalSamples.job(1)
        job.id = JobID.first(at: before)
        try journal.write([job], pipelines: [JournalSamples.pipeline("scans")])
        let over = failed(job, at: "/failed/a")
        #expect(try journal.write([over], pipelines: []) == [])
        #expect(try journal.figures()["scans"]?.ended[.failed]?.jobs == 1)
        #expect(try journal.setDismissed([job.id], Dismissal(by: "anna", at: .now())) == [job.id])
        _ = try journal.first(SeenQuery("x", job: job.id, pipeline: "a", everywhere: true, since: nil), at: .now())
        #expect(try journal.share(of: "scans", proposing: "x") == "x" && journal.mayTell())
        _ = try journal.beginAudit(AuditEntry(at: .now(), user: 7, name: "anna", verb: "retry", arguments: "{}"))
        journal.keep([KeptFolder("scans", .failed, "/failed")])
        #expect(try journal.collect(since: Timestamp(nanoseconds: 0), after: nil, limit: 9)?.id == job.id)
        #expect(try journal.prune(finishedBefore: .now()) == 1)
        while try journal.giveBack() {}
        let day = "history_" + before.formatted("%Y%m%d", utc: true)
        #expect(try server.ask("SELECT to_regclass('\(day)') IS NULL", in: place) == ["t"])
        try journal.endRun()
        let reading = try PostgresJournal.open(reading: own)
        defer { reading.close() }
        #expect(try reading.nodes().map(\.name) == ["a"])
        // It has no more than that.
        for command in [
            "CREATE TABLE x ()", "DROP TABLE history", "DELETE FROM migrations", "SELECT make_day_1('x', '', '')",
        ] {
            #expect(throws: (any Error).self) { try server.ask(command, in: own) }
        }
    }
}
