import Files
import FoundationEssentials
import PipelineEngine
import PipelineKit
import Testing

@testable import Control
@testable import DropmillCommand
@testable import Journal

@Suite struct StatusTests {
    private let fixture: JournalFixture

    init() throws { fixture = try JournalFixture() }

    private func fill() throws {
        _ = try fixture.journal.beginRun(RunRecord(boot: "b", process: 42, startedAt: JournalFixture.noon))
        let failure = Failure(
            .environment, code: "io.write", summary: "There is no space.", remedy: "Free some.")
        try fixture.journal.write(
            [
                try JournalFixture.job(1, .queued, stage: 1), try JournalFixture.job(2, .running, stage: 0),
                try JournalFixture.job(3, .running, stage: 1), try JournalFixture.job(4, .deferred, stage: 2),
                try JournalFixture.job(5, .settling, stage: 3), try JournalFixture.job(6, .processed),
                try JournalFixture.job(7, .failed), try JournalFixture.job(8, .lost),
                try JournalFixture.job(9, .processed, pipeline: "gone"),
            ],
            pipelines: [try fixture.pipeline(waiting: 12, paused: failure), try fixture.pipeline("quiet")])
    }

    @Test func peopleReadATable() throws {
        try fill()
        let report = try StatusReport(fixture.journal, isRunning: true)
        let (start, pause) = (JournalFixture.noon.localText, JournalFixture.at(30).localText)
        #expect(
            report.lines(now: JournalFixture.at(90)) == [
                "running since \(start) (1 min 30 s), process 42",
                "",
                "PIPELINE  WAITING  ACTIVE  DEFERRED  SETTLING  DONE  FAILED",
                "gone            ?       0         0         0     1       0",
                "  this pipeline was not part of the last run",
                "quiet           0       0         0         0     0       0",
                "scans          12       3         1         1     1       1",
                "  active: unpack 1, checksum 1 (+1 queued)",
                "  lost: 1",
                "  paused since \(pause) (1 min): There is no space.",
                "  Free some.",
            ])
    }

    /// What a daemon was at when it ended is neither running nor paused any more.
    @Test func withoutADaemonNothingIsToldAsIfOneRan() throws {
        try fill()
        let report = try StatusReport(fixture.journal, isRunning: false)
        let lines = report.lines(now: JournalFixture.at(90))
        #expect(lines.contains("  will resume at the next start: unpack 1, checksum 2"))
        let pause = JournalFixture.at(30).localText
        #expect(lines.contains("  paused since \(pause) when the daemon stopped: There is no space."))
        #expect(!lines.contains { $0.contains("active:") || $0.contains("Free some") })
    }

    @Test func programsReadStableKeys() throws {
        try fill()
        let report = try StatusReport(fixture.journal, isRunning: true)
        let scans = try #require(report.rows.last?.record)
        #expect(
            report.json == #"""
                {"daemon":{"running":true,"process":42,"started_at":"2026-03-01T12:00:00.000Z"},\#
                "pipelines":[{"name":"gone","active":0,"queued":0,"running":0,"stages":[],\#
                "deferred":0,"settling":0,"processed":1,"failed":0,"lost":0},\#
                {"name":"quiet","inbox":"\#(scans.inbox.string)","waiting":0,"active":0,\#
                "queued":0,"running":0,"stages":[],"deferred":0,"settling":0,"processed":0,"failed":0,\#
                "lost":0,"paused":false,\#
                "updated_at":"2026-03-01T12:00:40.000Z"},{"name":"scans","inbox":"\#(scans.inbox.string)",\#
                "waiting":12,"active":3,"queued":1,"running":2,"stages":[\#
                {"kind":"unpack","active":1,"queued":0,"running":1},\#
                {"kind":"checksum","active":2,"queued":1,"running":1}],\#
                "deferred":1,"settling":1,"processed":1,"failed":1,"lost":1,"paused":true,\#
                "paused_since":"2026-03-01T12:00:30.000Z","failure":{"class":"environment","code":"io.write",\#
                "summary":"There is no space.","remedy":"Free some.","detail":""},\#
                "updated_at":"2026-03-01T12:00:40.000Z"}]}
                """#)
    }

    @Test func whatWaitsIsListedWithItsReason() throws {
        try fixture.journal.write([], pipelines: [try fixture.pipeline(waiting: 1)])
        var report = try StatusReport(fixture.journal, isRunning: true)
        let look = InboxLook(inboxes: [
            "scans": InboxLook.Inbox(
                waiting: 7,
                longest: [
                    .init(path: Data("big.iso".utf8), known: 242, code: "growing", text: "growing: 3.1 MB/s"),
                    .init(path: Data([0x61, 0xFF]), known: 3, code: "changing", text: "changing", claimed: true),
                ], leftAlone: 1, left: [.init(path: Data("l".utf8), code: "refused", text: "refused: a link")], poll: 2
            )
        ])
        report.add(look)
        #expect(
            report.lines(now: JournalFixture.at(90)).suffix(8) == [
                "scans           7       0         0         0     0       0",
                "  the inbox is polled every 2.0 s",
                "  waiting:",
                "    big.iso  4 min 2 s  growing: 3.1 MB/s",
                #"    a\xFF        3.0 s  claimed; changing"#,
                "    and 5 more",
                "  left alone:",
                "    l  refused: a link",
            ])
        #expect(
            report.json.contains(
                #""waiting":7,"longest_waiting":[{"path":"big.iso","known_s":242.000000,"why":"growing","#
                    + #""text":"growing: 3.1 MB/s","claimed":false},{"path":"a\\xFF","path_base64":"Yf8=","#))
        #expect(report.json.contains(#""left_alone":1,"left_alone_files":[{"path":"l","why":"refused","#))
        report.add(InboxLook())
        #expect(report.rows.first?.waiting == nil)
        #expect(report.lines(now: JournalFixture.at(90)).last == "not loaded any more, with nothing unfinished: scans")
        #expect(!report.lines(now: JournalFixture.at(90)).contains { $0.hasPrefix("scans") })
        report.add(InboxLook(problem: "it is asleep"))
        #expect(report.lines(now: JournalFixture.at(90))[1] == "cannot say what waits: it is asleep")
        #expect(report.rows.first?.waiting == 1, "then the journal's number is told")
    }

    @Test func whatCannotBeWrittenDownIsSaid() throws {
        try fixture.journal.write(
            [try JournalFixture.job(1, .queued, stage: 1)], pipelines: [try fixture.pipeline(waiting: 4)])
        var report = try StatusReport(fixture.journal, isRunning: true)
        report.add(InboxLook(inboxes: ["scans": InboxLook.Inbox(waiting: 2)], unwritten: ["scans": 3]))
        #expect(
            report.lines(now: JournalFixture.at(90)).suffix(2) == [
                "  active: checksum 1 queued",
                "  these numbers are out of date for 3 jobs: the journal cannot be written",
            ])
        #expect(report.json.contains(#""unwritten":3"#))
    }

    @Test func whatStallsIsSaid() throws {
        try fixture.journal.write([], pipelines: [try fixture.pipeline(waiting: 4)])
        var report = try StatusReport(fixture.journal, isRunning: true)
        let stalled = WaitingVerb.Stalled(Stall(.inbox, for: .seconds(720)))
        let look = InboxLook(silent: ["scans"], stalled: ["scans": stalled])
        #expect(look.loaded == ["scans"], "the daemon runs it all the same")
        report.add(look)
        #expect(
            report.lines(now: JournalFixture.at(90)).suffix(3) == [
                "scans           4       0         0         0     0       0",
                "  stalled: its inbox has not answered for 12 min",
                "  the inbox does not answer; how much waits is what was known last",
            ])
        #expect(
            report.json.contains(
                #""inbox_silent":true,"stalled":{"for_s":720.000000,"text":"its inbox has not answered for 12 min"}"#))
        report.add(InboxLook(inboxes: ["scans": InboxLook.Inbox(waiting: 2)]))
        #expect(!report.json.contains("stalled") && !report.json.contains("inbox_silent"))
    }

    /// A pause that cannot be written down, since the journal is what is wrong.
    @Test func theDaemonItselfTellsOfAPause() throws {
        try fill()
        var report = try StatusReport(fixture.journal, isRunning: true)
        report.add(
            InboxLook(inboxes: [
                "quiet": InboxLook.Inbox(
                    waiting: 0, paused: Failure(.environment, code: "journal", summary: "Full."))
            ]))
        #expect(report.lines(now: JournalFixture.at(90)).contains("  paused: Full."))
        #expect(report.json.contains(#""paused":true,"failure":{"class":"environment","code":"journal""#))
        #expect(
            report.lines(now: JournalFixture.at(-90)).first
                == "running since \(JournalFixture.noon.localText), process 42",
            "no age by a clock that was set back")
    }

    @Test func whatIsNotWrittenDownYetIsTold() throws {
        var report = try StatusReport(fixture.journal, isRunning: true)
        report.add(InboxLook(inboxes: ["scans": InboxLook.Inbox(waiting: 2)]))
        #expect(
            report.lines(now: JournalFixture.at(90)).last
                == "scans           2       0         0         0     0       0")
    }

    @Test func whereNoDaemonRunsTheInboxIsCounted() throws {
        let record = try fixture.pipeline(waiting: 3)
        for name in ["a", "b.pdf", "b.pdf.done", ".hidden", "c.part", "sub/deep.pdf", "sub/sub/deeper.pdf"] {
            try fixture.scratch.write("x", to: "inbox/\(name)")
        }
        #expect(InboxLook.counting([record]) { _ in nil }.inboxes == ["scans": .init(waiting: 3, isRough: true)])
        var pipeline = Pipeline(
            name: "scans", source: "", inbox: record.inbox, processed: .delete, failed: record.failed)
        func count() -> Int? { InboxLook.counting([record]) { [pipeline] _ in pipeline }.inboxes["scans"]?.waiting }
        pipeline.match = MatchRule(exclude: [try #require(Glob("a"))], depth: 2)
        pipeline.ready.marker = try MarkerRule(Template("{name}.done", use: .name))
        #expect(count() == 2)
        pipeline.match = MatchRule()
        pipeline.ready.unit = .folder
        #expect(count() == 1)
        pipeline.inbox = "/elsewhere"
        #expect(count() == 3)
        try Folder.remove(record.inbox)
        #expect(InboxLook.counting([record]) { _ in nil }.inboxes.isEmpty)
    }

    @Test func aScreenIsNeverOverrun() {
        let lines = (1...6).map { String(repeating: "\($0)", count: 12) }
        #expect(Screen(columns: 10, rows: 4).fitting(lines) == ["1111111111", "  11", "…"])
        #expect(Screen(columns: 12, rows: 7).fitting(lines) == lines)
    }

    @Test(arguments: [
        ("  paused: There is no space left.", 20, ["  paused: There is", "    no space left."]),
        ("short", 20, ["short"]), ("a bb", 3, ["a", " bb"]), ("    abcdef", 4, ["    ", "  ab", "  cd", "  ef"]),
    ])
    func linesAreBroken(line: String, columns: Int, broken: [String]) {
        #expect(line.broken(at: columns) == broken)
    }

    @Test func onANarrowTerminalNothingIsLeftOut() throws {
        try fill()
        let report = try StatusReport(fixture.journal, isRunning: true)
        let text = report.lines(now: JournalFixture.at(90), columns: 40).flatMap { $0.broken(at: 40) }
        #expect(text.allSatisfy { $0.count <= 40 })
        #expect(text.contains("scans: 12 waiting, 3 active, 1 deferred,"))
        #expect(text.contains("  1 settling, 1 done, 1 failed"))
        #expect(text.joined(separator: " ").replacing("     ", with: " ").contains("There is no space."))
    }

    @Test func theDaemonIsToldOf() throws {
        func headline(isRunning: Bool) throws -> String? {
            try StatusReport(fixture.journal, isRunning: isRunning).lines(now: JournalFixture.at(60)).first
        }
        #expect(try headline(isRunning: false) == "no daemon is running")
        _ = try fixture.journal.beginRun(RunRecord(boot: "b", process: 42, startedAt: JournalFixture.noon))
        #expect(try headline(isRunning: true)?.hasPrefix("running since") == true)
        #expect(try headline(isRunning: false)?.contains("was killed or crashed") == true)
        try fixture.journal.endRun()
        #expect(try headline(isRunning: false)?.hasPrefix("no daemon is running; the last one stopped at") == true)
    }

    @Test func theLockIsSeenAndLeftAlone() throws {
        let folder = StateFolder(given: fixture.state)
        #expect(try !folder.isHeld())
        let lock = try FolderLock(fixture.state, describedAs: "the state folder")
        #expect(try folder.isHeld())
        lock.release()
        #expect(try !folder.isHeld())
        _ = try FolderLock(fixture.state, describedAs: "the state folder")
    }
}
