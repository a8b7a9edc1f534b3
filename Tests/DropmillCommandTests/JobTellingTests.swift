import ArgumentParser
import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Control
@testable import DropmillCommand
@testable import Journal

@Suite struct JobTellingTests {
    private let fixture: JournalFixture

    init() throws { fixture = try JournalFixture() }

    // MARK: Listing

    @Test func jobsAreLines() throws {
        var deferred = try JournalFixture.job(4, .deferred, named: "a\u{1B}[31m.zip")
        deferred.failure = Failure(.transient, code: "x", summary: String(repeating: "long ", count: 20))
        let records = [deferred, try JournalFixture.job(1, .failed, named: String(repeating: "n", count: 50))]
        let (id, other) = (records[0].id.text, records[1].id.text)
        let (late, early) = (JournalFixture.at(4).localText, JournalFixture.at(1).localText)
        let reason = String(String(repeating: "long ", count: 20).prefix(59)) + "…"
        let name = String(repeating: "n", count: 39) + "…"
        let space = String(repeating: " ", count: 29)
        #expect(
            JobTable.lines(records, now: JournalFixture.at(64)) == [
                "JOB                         STATE     PIPELINE  NAME                                         SIZE  "
                    + "CLAIMED               TOOK  REASON",
                #"\#(id)  deferred  scans     a\x1B[31m.zip\#(space)4.0 KiB  \#(late)  1 min  \#(reason)"#,
                "\(other)  failed    scans     \(name)  4.0 KiB  \(early)  2.0 s  The archive is damaged.",
            ])
    }

    @Test func jobsOfFoldersHaveTheirPaths() throws {
        var records: [JobRecord] = []
        for folder in ["in", String(repeating: "f", count: 50)] {
            let drop = Drop(
                name: try #require(FileName("a.zip")), folders: [try #require(FileName(folder))], size: 1,
                droppedAt: JournalFixture.noon)
            let job = Job(
                id: JournalFixture.id(1), pipeline: "scans", drop: drop, claimedAt: JournalFixture.noon, folder: "/work"
            )
            records.append(JobRecord(claimed: job, identity: .unknown, definition: "d"))
        }
        let lines = JobTable.lines(records, now: JournalFixture.noon)
        #expect(lines[1].contains("  in/a.zip  "))
        #expect(lines[2].contains("  …\(String(repeating: "f", count: 33))/a.zip  "))
        #expect(JobJSON.list(records).contains(#""name":"a.zip","path":"in/a.zip","#))
    }

    @Test func jobsAreObjects() throws {
        var record = try JournalFixture.job(1, .failed)
        record.retryOf = JournalFixture.id(0)
        record.digests = ["sha256": "00ff"]
        record.facts = ["integrity": "verified"]
        record.original = "/failed/report.pdf"
        #expect(
            JobJSON.list([record]) == #"""
                [{"id":"\#(record.id.text)","pipeline":"scans","state":"failed",\#
                "name":"report.pdf","path":"report.pdf","size":4096,"dropped_at":"2026-03-01T12:00:00.000Z",\#
                "claimed_at":"2026-03-01T12:00:01.000Z","finished_at":"2026-03-01T12:00:03.000Z",\#
                "duration_s":2.000000,"stage":0,"stage_kind":"unpack","failures":0,"recoveries":0,\#
                "failed_stage":"unpack",\#
                "failure":{"class":"file","code":"archive.damaged","summary":"The archive is damaged.",\#
                "remedy":"Send it again.","detail":"CRC"},"outputs":[],"original":"/failed/report.pdf",\#
                "digests":{"sha256":"00ff"},"facts":{"integrity":"verified"},\#
                "retry_of":"\#(record.retryOf?.text ?? "")"}]
                """#)
        #expect(JobJSON.list([]) == "[]")
    }

    @Test func theFiltersAreRead() throws {
        let command = try JobsCommand.parse([
            "--state", "failed,deferred", "--state", "settling", "--pipeline", "scans", "--since", "2026-11-01",
            "--limit", "5", "--state-dir", "s", "--until", "2026-11-02", "--name", "*.{pdf,zip}", "--code", "x.y",
        ])
        #expect(command.query.states == [.failed, .deferred, .settling])
        #expect(command.query.pipeline == "scans")
        #expect(command.query.since?.localText == "2026-11-01 00:00:00")
        #expect(command.query.until?.localText == "2026-11-02 00:00:00")
        #expect(command.query.pattern == Glob("*.{pdf,zip}"))
        #expect(command.query.code == "x.y")
        #expect(command.query.limit == 5)
        #expect(command.folder.given == "s")
        #expect(try JobsCommand.parse([]).query.limit == 50)
    }

    @Test(arguments: [
        ["--state", "failure"], ["--state", "/var/lib/dropmill"], ["--state", "failed,"], ["--since", "yesterday"],
        ["--since", "2026-02-30"], ["--limit", "0"], ["--since", "2026-01-01T25:00"],
        ["--name", ""], ["--name", "{a"], ["--until", "x"],
    ])
    func mistakesInFilters(arguments: [String]) {
        #expect(throws: (any Error).self) { try JobsCommand.parse(arguments) }
    }

    @Test func whereTheStateFolderIsSaidInstead() {
        do {
            _ = try JobsCommand.parse(["--state", "/var/lib/dropmill"])
        } catch {
            #expect(JobsCommand.message(for: error).contains("--state-dir"))
        }
    }

    @Test(arguments: [
        ("2026-11-01T14:30", "2026-11-01 14:30:00"), ("2026-11-01 14:30:05", "2026-11-01 14:30:05"),
        ("2024-02-29", "2024-02-29 00:00:00"),
    ])
    func dates(text: String, time: String) throws {
        #expect(try TimeArgument.past(text).localText == time)
    }

    @Test func howLongAgo() throws {
        let time = try TimeArgument.past("2h")
        let ago = Timestamp.now() - time
        #expect(ago >= .seconds(7200) && ago < .seconds(7300))
    }

    // MARK: Finding

    @Test func aJobIsFoundByIdBeginningAndName() throws {
        let odd = try #require(FileName([0x61, 0xFF, 0x0A]))
        var strange = try JournalFixture.job(300)
        strange.drop = Drop(name: odd, size: 1, droppedAt: JournalFixture.noon)
        let records = [
            try JournalFixture.job(1, named: "a.zip"), try JournalFixture.job(2_000_000, named: "a.zip"), strange,
        ]
        try fixture.journal.write(records, pipelines: [])
        func found(_ text: String) throws -> JobID? {
            guard case .found(let record) = try JobFinder.find(text, in: fixture.journal) else { return nil }
            return record.id
        }
        #expect(try found(records[0].id.text) == records[0].id)
        #expect(try found(records[1].id.text.lowercased()) == records[1].id)
        #expect(try found(String(records[1].id.text.prefix(10))) == records[1].id)
        #expect(try found("a.zip") == records[1].id)
        #expect(try found(odd.text) == strange.id)
        #expect(try found("b.zip") == nil)
        #expect(try found("") == nil)
        let several = try JobFinder.find("01", in: fixture.journal)
        guard case .nothing(let message) = several else {
            Issue.record("several ids begin with 01")
            return
        }
        #expect(message.hasPrefix("'01' is ambiguous: "))
        #expect(message.hasSuffix("; type more of the id"))
    }

    // MARK: A story

    @Test func aFailureIsToldWhole() throws {
        let pipeline = try fixture.pipeline()
        var record = try JournalFixture.job(1, .failed)
        record.original = "/failed/report.pdf"
        record.digests = ["sha256": "00ff"]
        record.recoveries = 1
        record.history = [
            Transition("claimed", at: JournalFixture.at(1)),
            Transition("failed", at: JournalFixture.at(3), stage: "unpack", duration: .milliseconds(12), note: "CRC"),
        ]
        let story = JobStory(record: record, retries: [], pipeline: pipeline)
        func time(_ seconds: Int) -> String { JournalFixture.at(seconds).localText }
        #expect(
            story.lines(now: JournalFixture.at(63)) == [
                "report.pdf: failed 1 min ago",
                "  job         \(record.id.text)",
                "  pipeline    scans",
                "  dropped as  \(pipeline.inbox.string)/report.pdf",
                "  size        4.0 KiB (4096 bytes)",
                "  dropped     \(time(0))",
                "  claimed     \(time(1))",
                "  finished    \(time(3)), after 2.0 s",
                "  recoveries  1 (the daemon stopped while the job was unfinished)",
                "  sha256      00ff",
                "  original    /failed/report.pdf",
                "",
                "What happened:",
                "  \(time(1))  claimed",
                "  \(time(3))  unpack failed, 12 ms: CRC",
                "",
                "What took how long:",
                "  inbox   waited 1.0 s",
                "  unpack  queued 2.0 s, ran 12 ms",
                "",
                "Why (unpack):",
                "  The archive is damaged.",
                "  Send it again.",
                "  [archive.damaged: CRC]",
                "",
                "To retry it: dropmill retry \(record.id.text)",
            ])
    }

    @Test func linksLeadBothWays() throws {
        let first = try JournalFixture.job(1, .failed)
        var second = try JournalFixture.job(2, .processed)
        second.retryOf = first.id
        second.outputs = ["/out/report.pdf", "/out/report.pdf.sha256"]
        try fixture.journal.write([first, second], pipelines: [try fixture.pipeline()])
        let forth = try #require(try ShowCommand.find(first.id.text, in: fixture.journal).story)
        let back = try #require(try ShowCommand.find("report.pdf", in: fixture.journal).story)
        #expect(forth.lines(now: .now()).contains("  retried as  \(second.id.text) (processed)"))
        #expect(!forth.lines(now: .now()).contains { $0.hasPrefix("To retry it") })
        #expect(back.lines(now: .now()).contains("  retry of    \(first.id.text)"))
        #expect(back.lines(now: .now()).contains("  outputs     /out/report.pdf"))
        #expect(JobJSON.story(forth.record, retries: forth.retries).contains(#""retried_as":["\#(second.id.text)"]"#))
        #expect(try ShowCommand.find("nothing", in: fixture.journal).story == nil)
    }

    @Test(arguments: [
        (JobRecord.State.queued, 1, "queued for checksum"), (.queued, 3, "queued for settlement"),
        (.running, 0, "running unpack"), (.deferred, 2, "waits to retry move, in 30.0 s"), (.settling, 3, "settling"),
    ])
    func whatIsNotOverSaysWhatItWaitsFor(state: JobRecord.State, stage: Int, words: String) throws {
        var record = try JournalFixture.job(1, state, stage: stage)
        if state == .deferred { record.nextAttempt = JournalFixture.at(60) }
        let story = JobStory(record: record, retries: [], pipeline: try fixture.pipeline())
        #expect(story.lines(now: JournalFixture.at(30)).first == "report.pdf: \(words)")
    }

    // MARK: What it waits for besides

    /// A job may well be queued or running by its record, and yet stand still.
    @Test func whatKeepsAJobIsTold() throws {
        let failure = Failure(.environment, code: "io.write", summary: "There is no space.", remedy: "Free some.")
        let pipeline = try fixture.pipeline(paused: failure)
        let (queued, over) = (try JournalFixture.job(1, .queued), try JournalFixture.job(2, .processed))
        func words(_ isRunning: Bool?) throws -> [String] {
            let surroundings = JobSurroundings(of: [pipeline], isRunning: isRunning)
            let table = JobTable.lines([queued, over], surroundings, now: JournalFixture.at(9))
            let story = JobStory(record: queued, retries: [], pipeline: pipeline, surroundings: surroundings)
            return Array(story.lines(now: .now()).prefix(2)) + table.dropFirst().map { String($0.suffix(42)) }
        }
        let paused = try words(true)
        #expect(paused[0] == "report.pdf: queued for unpack; the pipeline is paused: There is no space.")
        #expect(paused[1] == "  Free some.")
        #expect(paused[2].hasSuffix("the pipeline is paused: There is no space."))
        #expect(!paused[3].contains("paused"))
        #expect(try words(nil) == paused, "where it is not known whether a daemon runs the journal is believed")
        let idle = try words(false)
        #expect(idle[0] == "report.pdf: queued for unpack; no daemon is running")
        #expect(idle[2].hasSuffix("no daemon is running"))
        #expect(!idle.joined().contains("paused"))
        let json = JobJSON.list([queued, over], JobSurroundings(of: [pipeline], isRunning: true))
        #expect(json.components(separatedBy: #""paused":{"class":"environment","#).count == 2)
    }

    @Test func whatAPersonHoldsIsTold() throws {
        func hold(_ kind: HoldRecord.Kind, until: Timestamp? = nil) -> HoldRecord {
            HoldRecord(
                pipeline: "scans", kind: kind, by: "anna", user: 1000, since: JournalFixture.at(0), until: until,
                reason: "RIP is down")
        }
        func surroundings(_ hold: HoldRecord, isRunning: Bool? = true) -> JobSurroundings {
            JobSurroundings(of: [], holds: [hold], isRunning: isRunning, at: JournalFixture.at(60))
        }
        let text = "paused by anna 1 min ago: RIP is down"
        let (queued, running) = (try JournalFixture.job(1, .queued), try JournalFixture.job(2, .running))
        #expect(queued.pipeline == "scans")
        #expect(surroundings(hold(.pause)).hindrance(of: queued) == text)
        #expect(surroundings(hold(.pause), isRunning: false).hindrance(of: queued) == "no daemon is running; \(text)")
        #expect(surroundings(hold(.pause)).hindrance(of: running) == nil, "what runs ends")
        #expect(surroundings(hold(.drain)).hindrance(of: queued) == nil, "what is claimed goes to its end")
        #expect(surroundings(hold(.pause, until: JournalFixture.at(60))).hindrance(of: queued) == nil, "it is over")
        let story = JobStory(record: queued, retries: [], pipeline: nil, surroundings: surroundings(hold(.pause)))
        let lines = story.lines(now: JournalFixture.at(60))
        #expect(lines[0].hasSuffix("; \(text)") && lines[1] == "  'dropmill resume scans' lets it go on")
        #expect(JobJSON.list([queued], surroundings(hold(.pause))).contains(#""held":{"kind":"pause","by":"anna""#))
    }

    /// What holds or pauses a pipeline on one node is no matter of jobs that another one has.
    @Test func whatOneNodeDoesNotDoIsToldOfItsJobs() throws {
        let hold = HoldRecord(
            pipeline: "scans", kind: .pause, by: "anna", user: 1000, since: JournalFixture.at(0), on: "mill-2")
        var board = BoardVerb.Answer(
            run: "1", version: "1", host: "h", zone: "UTC", offset: 0, now: 0, started: 0, today: 0)
        func node(_ name: String) -> BoardNode {
            BoardNode(
                NodeRecord(
                    incarnation: name, name: name, host: name, version: "1", since: JournalFixture.at(0),
                    lease: .seconds(9), isDead: false, jobs: 1))
        }
        var (second, third) = (node("mill-2"), node("mill-3"))
        second.held = [BoardNode.Held(hold)]
        let full = WaitingVerb.Pause(code: "disk.full", summary: "The disk is full.", remedy: "Free some.")
        third.paused = [BoardNode.Paused(pipeline: "scans", why: full, since: nil)]
        (board.node, board.nodes) = ("mill-1", [node("mill-1"), second, third])
        board.pipelines = [
            BoardPipeline(
                name: "scans", file: .init(), inbox: .init(), jobs: .init(), today: .init(),
                minutes: .init(last: 0, jobs: [], failed: [], bytes: []))
        ]
        let surroundings = JobSurroundings(of: board)
        func job(_ number: Int, on node: String) throws -> JobRecord {
            var job = try JournalFixture.job(number, .queued)
            job.node = node
            return job
        }
        let jobs = try (1...3).map { try job($0, on: "mill-\($0)") }
        #expect(surroundings.hindrance(of: jobs[0]) == nil)
        #expect(surroundings.hindrance(of: jobs[1])?.hasPrefix("paused on mill-2 by anna") == true)
        #expect(surroundings.hindrance(of: jobs[2]) == "the pipeline is paused: The disk is full.")
        // What holds all is in force there, whatever holds this node besides.
        board.held = [
            BoardNode.Held(
                HoldRecord(pipeline: "scans", kind: .pause, by: "bob", user: 1, since: JournalFixture.at(0)))
        ]
        board.pipelines[0].hold = .init(
            HoldRecord(
                pipeline: "scans", kind: .pause, by: "anna", user: 1, since: JournalFixture.at(0), on: "mill-1"))
        #expect(JobSurroundings(of: board).hindrance(of: jobs[2])?.hasPrefix("paused by bob") == true)
        let story = JobStory(record: jobs[1], retries: [], pipeline: nil, surroundings: surroundings)
        let lines = story.lines(now: JournalFixture.at(60))
        #expect(lines[1] == "  'dropmill resume scans --node mill-2' lets it go on")
        #expect(lines.contains { $0.contains("node ") && $0.hasSuffix("mill-2") })
        let table = JobTable.lines(jobs, surroundings, now: JournalFixture.at(60))
        #expect(table[0].contains("NODE") && table[3].contains("mill-3  the pipeline is paused"))
        let alone = JobTable.lines([try JournalFixture.job(4, .queued)], now: JournalFixture.at(60))
        #expect(!alone[0].contains("NODE"))
        #expect(JobJSON.list([jobs[2]]).contains(#""node":"mill-3""#))
    }
}
