import BuiltinStages
import Files
import FoundationEssentials
import Glibc
import PipelineConfig
import PipelineEngine
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Control
@testable import DropmillCommand
@testable import FolderWatch
@testable import Readiness

@Suite struct ExplanationTests {
    private let fixture: JournalFixture
    private var scratch: ScratchFolder { fixture.scratch }

    init() throws { fixture = try JournalFixture() }

    private func pipelines() throws -> [Pipeline] {
        try scratch.makeFolder("inbox")
        let file = try scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            match: { include: ["*.csv", "*.tar.gz"], exclude: ["draft-*"] }
            ready: { quiet: 20ms }
            stages:
              - unpack: { when: "*.tar.gz" }
              - move: { to: "../out/{date:%Y}/{stem}-{job}" }
            """, to: "pipelines/scans.yaml")
        return try PipelineLoader(registry: .builtin, environment: [:]).load([file])
    }

    private func explain(_ path: String) throws -> Explanation {
        let file = path.hasPrefix("/") || !path.contains("/") ? FilePath(path) : scratch.path(path)
        return Explanation(
            of: file, among: PipelineFolders(try pipelines()), state: StateFolder(given: fixture.state),
            now: JournalFixture.noon)
    }

    @Test(arguments: [
        ("a.csv", true, "`match.include` has '*.csv'"),
        ("draft-1.csv", false, "`match.exclude` has 'draft-*'"),
        ("a.pdf", false, "no pattern of `match.include` matches its name: '*.csv', '*.tar.gz'"),
        (".a.csv", false, "its name marks it as a hidden file, and such files are never taken"),
    ])
    func theRuleIsNamed(name: String, isTaken: Bool, rule: String) throws {
        let explanation = try explain(name)
        #expect(explanation.accounts.map(\.rule) == [rule])
        #expect(explanation.isTaken == isTaken)
        #expect(explanation.accounts.first?.standing == nil, "a name alone waits for nothing")
    }

    @Test func whereAPathBelongsIsSeen() throws {
        let folders = PipelineFolders(try pipelines())
        let name = try #require(FileName("x"))
        let sub = try #require(FileName("sub"))
        let id = JournalFixture.id(1)
        try scratch.link("way", to: "inbox")
        #expect(folders.place(of: scratch.path("inbox/x")) == .inbox(0, folders: [], name))
        #expect(folders.place(of: scratch.path("way/x")) == .inbox(0, folders: [], name))
        #expect(folders.place(of: scratch.path("inbox/sub/x")) == .inbox(0, folders: [sub], name))
        #expect(folders.place(of: scratch.path("failed/x")) == .settled(0, key: "failed", name))
        #expect(folders.place(of: scratch.path("processed/x")) == .settled(0, key: "processed", name))
        #expect(folders.place(of: scratch.path("out/2026/x")) == .settled(0, key: "move.to", name))
        #expect(folders.place(of: scratch.path(".dropmill/scans/active/\(id.text)/x")) == .work(0, id))
        #expect(folders.place(of: scratch.path(".dropmill/scans/active/\(id.text)")) == .work(0, id))
        #expect(folders.place(of: scratch.path("elsewhere/x")) == .elsewhere)
        #expect(folders.place(of: "x") == .name(name))
        #expect(folders.place(of: "/x") == .elsewhere)
    }

    @Test func whatWaitsIsSeenWithoutADaemon() throws {
        _ = try pipelines()
        try scratch.write("x", to: "inbox/a.csv")
        try scratch.link("inbox/link.csv", to: "a.csv")
        let complete = try explain("inbox/a.csv")
        #expect(complete.accounts.first?.standing?.code == "complete")
        #expect(complete.accounts.first?.standing?.isFromDaemon == false)
        let link = try explain("inbox/link.csv")
        #expect(link.accounts.first?.standing?.code == "refused")
        #expect(!link.isTaken)
        #expect(
            link.lines.first?.hasSuffix("in the inbox of scans, which leaves it alone in its present state") == true)
    }

    @Test func aDaemonIsAsked() throws {
        _ = try pipelines()
        let lock = try FolderLock(fixture.state, describedAs: "the state folder")
        defer { lock.release() }
        let handler = ControlHandler(DropVerb.self) { @Sendable asked, _, reply in
            guard asked == .init(pipeline: "scans", path: Data("a.csv".utf8)) else { return reply(.success(.init())) }
            let waiting = Waiting.heldOpen(.init(process: 4121, program: "rsync"))
            let drop = WaitingDrop(path: [0x61], known: .seconds(1), waiting: waiting)
            reply(.success(.init(drop: WaitingReply(drop))))
        }
        let server = try ControlServer.open(in: fixture.state, ControlTable([handler]))
        defer { server.stop() }
        let asked = try explain("inbox/a.csv")
        #expect(asked.lines.contains("  now       held open for writing by rsync (pid 4121)"))
        #expect(asked.isTaken)
        // What it does not know of is looked at.
        #expect(try explain("inbox/b.csv").accounts.first?.standing?.code == "gone")
    }

    @Test func whatWillHappenIsToldWithTemplatesFilledIn() throws {
        let account = try #require(try explain("a.csv").accounts.first)
        let steps = Itinerary(of: account, now: JournalFixture.noon).steps
        #expect(steps.map(\.title) == ["claim", "unpack", "move", "success", "failure"])
        #expect(steps[0].text == "once it has been unchanged for 20 ms and no process has it open for writing")
        #expect(steps[1].isSkipped)
        #expect(steps[1].text == "skipped: only for '*.tar.gz'")
        #expect(steps[2].targets == ["to": scratch.path("out/2026/a-{job}")])
        #expect(steps[3].text.hasSuffix("processed, unless it was itself published"))
        #expect(steps[4].text.hasSuffix("failed, with the reason in a.csv.error.json"))
    }

    @Test func whatHasToComeWithADropIsNamed() throws {
        let name = try #require(FileName("a.csv"))
        func marker(_ text: String) throws -> MarkerRule { try MarkerRule(Template(text, use: .name)) }
        let file = ReadyRule(
            quiet: .seconds(2), writers: .ignore, marker: try marker("{name}.done"), timeout: .seconds(60))
        #expect(
            Itinerary.readiness(file, of: name)
                == "once it has been unchanged for 2.0 s and its marker a.csv.done is there; "
                + "otherwise it fails after 1 min"
        )
        let folder = ReadyRule(
            quiet: .seconds(2), unit: .folder, marker: try marker("READY"), manifest: Glob("*.md5"))
        #expect(
            Itinerary.readiness(folder, of: name)
                == "once it has been unchanged for 2.0 s, no process has it open for writing, its marker READY is "
                + "there in it and everything that *.md5 in it lists has arrived")
        var pipeline = try #require(try pipelines().first)
        pipeline.match = MatchRule()
        pipeline.ready = file
        let done = try #require(FileName("a.csv.done"))
        #expect(!Explanation.account(pipeline, [], done).isTaken)
        #expect(Explanation.account(pipeline, [], name).isTaken)
        pipeline.ready = folder
        let inside = Explanation.account(pipeline, [name], done)
        #expect(inside.isTaken)
        #expect(inside.name == name)
    }

    @Test func foldersAreEnteredAsDeepAsTheRuleSays() throws {
        var pipeline = try #require(try pipelines().first)
        pipeline.match = MatchRule(exclude: ["no*"].compactMap { Glob($0) }, depth: 2)
        let names = try ["a", "b", "nowhere", "x"].map { try #require(FileName($0)) }
        func rule(_ folders: [FileName]) -> String { Explanation.account(pipeline, folders, names[3]).rule }
        #expect(rule([names[0]]) == "every name is taken")
        #expect(rule([names[0], names[1]]) == "the folder 'b' is not searched, because `match.depth` is 2")
        #expect(rule([names[2]]) == "the folder 'nowhere' is not searched, because of its name")
    }

    @Test func aSettledFileLeadsToItsJob() throws {
        _ = try pipelines()
        var failed = try JournalFixture.job(1, .failed, named: "report.csv")
        failed.original = scratch.path("failed/report.2.csv")
        var done = try JournalFixture.job(2, .processed, named: "report.csv")
        done.outputs = [scratch.path("out/2026/x")]
        try fixture.journal.write([failed, done], pipelines: [try fixture.pipeline()])
        #expect(try explain("failed/report.2.csv").job?.id == failed.id)
        #expect(try explain("failed/report.csv").job == nil)
        #expect(try explain("inbox/report.csv").job?.id == done.id, "gone from the inbox: what became of it")
        let claimed = try explain(".dropmill/scans/active/\(failed.id.text)/report.csv")
        #expect(claimed.job?.id == failed.id)
        #expect(claimed.lines.last == "  dropmill show \(failed.id.text)")
    }

    @Test func whateverAJobLeftLeadsToIt() throws {
        _ = try pipelines()
        var done = try JournalFixture.job(1, .processed, named: "report.csv")
        let left = ["SHA256SUMS", "r\u{e9}port.renamed.pdf.b3", "folder"].map { scratch.path("out/2026/\($0)") }
        done.outputs = left + [FilePath(bytes: scratch.path("out/2026").bytes + [0x2F, 0x61, 0xFF])]
        done.original = scratch.path("processed/report.csv")
        try fixture.journal.write([done, try JournalFixture.job(2, .processed)], pipelines: [try fixture.pipeline()])
        for path in done.outputs + [scratch.path("processed/report.csv"), left[2].pushing("deep/in/it.txt")] {
            let explanation = Explanation(
                of: path, among: PipelineFolders(try pipelines()), state: StateFolder(given: fixture.state),
                now: JournalFixture.noon)
            #expect(explanation.job?.id == done.id, "\(path)")
        }
        #expect(try explain("out/2026/report.csv.sha256").job == nil, "no job left that")
    }

    @Test func programsReadStableKeys() throws {
        let json = ExplanationReport(explanation: try explain("a.csv")).json
        #expect(
            json.hasPrefix(#"{"file":"a.csv","place":"name","taken":true,"pipelines":[{"name":"scans","taken":true,"#))
        #expect(
            json.contains(#"{"step":"unpack","text":"skipped: only for '*.tar.gz'","skipped":true,"targets":{}}"#)
        )
    }
}
