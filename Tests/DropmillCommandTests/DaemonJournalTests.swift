import Files
import Glibc
import Journal
import PipelineKit
import SQLiteJournal
import SystemPackage
import TestSupport
import Testing

@testable import Control
@testable import DropmillCommand

/// A daemon tells of its journal just what is in it.
@Suite(.timeLimit(.minutes(5))) struct DaemonJournalTests {
    private let scratch: ScratchFolder
    private let journal: SQLiteJournal
    private let told: DaemonJournal
    private let server: ControlServer

    init() throws {
        scratch = try ScratchFolder()
        journal = try SQLiteJournal.open(writing: scratch.path, durable: false, checking: false)
        told = DaemonJournal(of: scratch.path)
        server = try ControlServer.open(in: scratch.path, ControlTable(ControlService.reading(journal)))
    }

    /// `second`: when it was claimed.
    private func job(
        _ number: Int, at second: Int, state: JobRecord.State = .processed, pipeline: String = "scans"
    ) throws -> JobRecord {
        let digits = String(number)
        let id = try #require(JobID("00000000" + String(repeating: "0", count: 18 - digits.count) + digits))
        let time = Timestamp(seconds: second, nanoseconds: 0)
        let drop = Drop(name: try #require(FileName("\(number % 7).pdf")), size: Int64(number), droppedAt: time)
        let claimed = Job(id: id, pipeline: pipeline, drop: drop, claimedAt: time, folder: "/work")
        var record = JobRecord(
            claimed: claimed, identity: FileIdentity(device: 1, inode: UInt64(number)), definition: "abc")
        record.state = state
        if state.isFinal { record.finishedAt = Timestamp(seconds: second + 1, nanoseconds: 0) }
        if state == .failed { record.failure = Failure(.file, code: "a.b", summary: "No.") }
        record.outputs = [FilePath("/out").appending(drop.name)]
        return record
    }

    @Test func manyJobsComeInPagesEachOnceAndInOrder() throws {
        defer { server.stop() }
        // The middle ones were claimed at one time.
        try journal.write((1...900).map { try job($0, at: $0 < 200 ? $0 : $0 < 700 ? 200 : $0) }, pipelines: [])
        var query = JobQuery()
        let all = try told.jobs(query)
        #expect(all.count == 900)
        #expect(try all == journal.jobs(query))
        for limit in [0, 1, 199, 200, 201, 650, 900, 5000] {
            query.limit = limit
            #expect(try told.jobs(query) == journal.jobs(query), "\(limit)")
        }
    }

    @Test func largeRecordsComeInShortPages() throws {
        defer { server.stop() }
        let jobs = try (1...7).map { number in
            var record = try job(number, at: number)
            record.facts = ["text": String(repeating: "\u{1}", count: 100_000)]
            return record
        }
        try journal.write(jobs, pipelines: [])
        #expect(try told.jobs(JobQuery()) == jobs.reversed())
        var record = try job(8, at: 8)
        record.facts = ["text": String(repeating: "x", count: 5 << 20)]
        try journal.write([record], pipelines: [])
        #expect {
            _ = try told.jobs(JobQuery())
        } throws: {
            ($0 as? JournalError)?.message.contains("too large to be told of") == true
        }
    }

    @Test func everyPartOfAQueryIsSent() throws {
        defer { server.stop() }
        var retry = try job(5, at: 50)
        retry.retryOf = try job(2, at: 20).id
        var replay = try job(6, at: 60)
        replay.replayOf = try job(1, at: 10).id
        var unfinished = try job(7, at: 70, state: .queued, pipeline: "other")
        unfinished.slot = try job(3, at: 30).id
        try journal.write(
            [
                job(1, at: 10), job(2, at: 20, state: .failed), job(3, at: 30, state: .lost),
                job(4, at: 40, state: .failed), retry, replay, unfinished,
            ], pipelines: [])
        let changes: [(inout JobQuery) -> Void] = [
            { $0.states = [.failed, .lost] }, { $0.pipeline = "other" }, { $0.idPrefix = retry.id.text },
            { $0.name = FileName("3.pdf") }, { $0.slot = unfinished.slot }, { $0.pattern = Glob("[12].pdf") },
            { $0.since = retry.claimedAt }, { $0.until = retry.claimedAt }, { $0.finishedSince = retry.finishedAt },
            { $0.code = "a.b" }, { $0.otherThan = "a.b" }, { $0.retryOf = retry.retryOf },
            { $0.replayOf = replay.replayOf }, { $0.isOpen = true },
            { $0.left = ["/elsewhere", "/out/4.pdf"] },
        ]
        for (number, change) in changes.enumerated() {
            var query = JobQuery()
            change(&query)
            let found = try told.jobs(query)
            #expect(!found.isEmpty && found.count < 7, "\(number)")
            #expect(try found == journal.jobs(query), "\(number)")
        }
        #expect(try told.unfinished() == [unfinished])
        #expect(try told.job(retry.id) == retry)
        #expect(try told.job(job(99, at: 1).id) == nil)
        let groups = try journal.failureGroups(of: nil, since: nil, at: .now())
        #expect(try groups.total == 1 && told.failureGroups(of: nil, since: nil, at: .now()) == groups)
        #expect(try told.failureGroups(of: "none", since: nil, at: .now()).total == 0)
        #expect(try told.failureGroups(of: nil, since: .now(), at: .now()).total == 0)
        let dismissed = try job(4, at: 40).id
        _ = try journal.setDismissed([dismissed], Dismissal(by: "anna", at: .now()))
        #expect(try told.job(dismissed)?.dismissed?.by == "anna" && told.job(dismissed) == journal.job(dismissed))
    }

    @Test func whatIsKnownBesidesJobsIsTold() throws {
        defer { server.stop() }
        #expect(try told.lastRun() == nil)
        let run = RunRecord(boot: "b", process: 7, startedAt: Timestamp(seconds: 1, nanoseconds: 2))
        _ = try journal.beginRun(run)
        let pipeline = PipelineRecord(
            name: "scans", inbox: "/in", failed: "/failed", stages: ["run"], waiting: 4, updatedAt: .now())
        try journal.write([job(1, at: 1), job(2, at: 2, state: .running)], pipelines: [pipeline])
        let hold = HoldRecord(pipeline: "scans", kind: .pause, by: "anna", user: 7, since: .now(), reason: "RIP")
        try journal.change(HoldChange(of: [hold]))
        for number in 1...450 {
            _ = try journal.beginAudit(AuditEntry(user: 7, name: "anna", verb: "v\(number)", arguments: "{}"))
        }
        let told = DaemonJournal(of: scratch.path)
        #expect(try told.lastRun() == run)
        #expect(try told.pipelines() == [pipeline])
        #expect(try told.holds() == [hold])
        #expect(try told.counts() == journal.counts())
        for limit in [1, 200, 201, 1000] {
            #expect(try told.audit(since: nil, limit: limit) == journal.audit(since: nil, limit: limit))
        }
        #expect(try told.audit(since: .now(), limit: 10).isEmpty)
        var query = AuditQuery(before: 300, limit: 250)
        #expect(try told.audit(query).map(\.number) == (50..<300).reversed().map { Int64($0) })
        query.text = "V44"
        #expect(try told.audit(query).map(\.verb) == ["v44"])
        (query.user, query.text) = ("8", nil)
        #expect(try told.audit(query).isEmpty)
    }

    @Test(arguments: [
        ("jobs", #"{"states":["gone"]}"#, "'gone' is not a job's state"),
        ("jobs", #"{"pattern":"{"}"#, "is not a pattern of names"),
        ("jobs", #"{"name":"L2E="}"#, "is not a file's name"), ("jobs", #"{"slot":"x"}"#, "x is not a job's id"),
        ("jobs", #"{"skip":-1}"#, "'skip' is 0 to"), ("jobs", #"{"skip":9223372036854775807}"#, "'skip' is 0 to"),
        ("jobs", #"{"limit":-9223372036854775808}"#, "'limit' is"),
        ("audit", #"{"limit":-1}"#, "'limit' is -1"), ("audit", #"{"before":"x"}"#, "must be of another type"),
    ])
    func badQueriesAreRefused(verb: String, arguments: String, answer: String) async {
        defer { server.stop() }
        let line = Array(#"{"version":2,"id":1,"verb":"\#(verb)","arguments":\#(arguments)}"#.utf8)
        let table = ControlTable(ControlService.reading(journal))
        let said = await withCheckedContinuation { answered in
            table.serve(line, from: ControlPeer(user: geteuid())) { @Sendable bytes, _ in
                answered.resume(returning: String(decoding: bytes, as: UTF8.self))
            }
        }
        #expect(said.contains(answer), "\(said)")
    }
}
