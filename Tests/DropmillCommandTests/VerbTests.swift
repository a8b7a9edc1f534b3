import Files
import Glibc
import PipelineEngine
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal

/// The verbs that look at the journal, as the real program.
@Suite struct VerbTests {
    private let fixture: JournalFixture

    init() throws { fixture = try JournalFixture() }

    private func run(_ arguments: String..., state: String = "state") throws -> Tool.Output {
        return try Tool(DropmillBinary.path).run(arguments + ["--state-dir", state], in: fixture.scratch.path)
    }

    @Test func aFailedJobIsSeenUnderstoodAndSentIn() throws {
        let failed = try fixture.failedJob(1)
        try fixture.journal.write([failed], pipelines: [try fixture.pipeline()])
        let status = try run("status")
        #expect(status.status == 0)
        #expect(status.text.hasPrefix("no daemon is running\n\nPIPELINE"))
        let jobs = try run("jobs", "--state", "failed")
        #expect(jobs.status == 0)
        #expect(jobs.text.contains("\(failed.id.text)  failed"))
        let show = try run("show", "report.pdf")
        #expect(show.status == 0)
        #expect(show.text.contains("To retry it: dropmill retry \(failed.id.text)"))
        let retry = try run("retry", "--failed")
        #expect(retry.status == 0)
        #expect(retry.text == "\(failed.id.text) report.pdf → inbox/report.pdf\n")
        #expect(try fixture.scratch.tree("inbox") == ["report.pdf"])
        #expect(try run("retry", "--failed").status == 1)
    }

    @Test(arguments: [["status"], ["jobs"], ["show", "x"], ["retry", "x"]])
    func withoutAJournalNothingIsFoundAndNothingMade(arguments: [String]) throws {
        let output = try Tool(DropmillBinary.path).run(
            arguments + ["--state-dir", "elsewhere"], in: fixture.scratch.path)
        #expect(output.status == 1)
        #expect(output.text.hasPrefix("error: There is no journal in 'elsewhere'"))
        #expect(!fixture.scratch.exists("elsewhere"))
    }

    @Test(arguments: [
        ("chekc", "error: unknown verb 'chekc'; did you mean 'check'?\n"),
        ("frobnicate", "error: unknown verb 'frobnicate'; known verbs: run, check, "),
        ("sta\ntus", "error: unknown verb 'sta\\ntus'; did you mean 'status'?\n"),
    ])
    func unknownVerbs(word: String, message: String) throws {
        let output = try Tool(DropmillBinary.path).run([word])
        #expect(output.status == 64)
        #expect(output.text.hasPrefix(message), "\(output.text)")
    }

    @Test func helpWithAnUnknownVerb() throws {
        let output = try Tool(DropmillBinary.path).run(["help", "chekc"])
        #expect(output.status == 64)
        #expect(output.text == "error: unknown verb 'chekc'; did you mean 'check'?\n")
    }

    @Test(arguments: [["help"], ["--help"], ["help", "run"], ["--version"]])
    func knownWords(arguments: [String]) throws {
        #expect(try Tool(DropmillBinary.path).run(arguments).status == 0)
    }

    @Test("The version is that of the file VERSION, with a commit where the build was told one")
    func version() throws {
        let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        let version = String(decoding: try ScratchFolder.read(root.appending("VERSION")), as: UTF8.self).dropLast()
        let output = try Tool(DropmillBinary.path).run(["--version"]).text
        let pattern = try Regex("dropmill \(version)( \\([0-9a-f]{7,}(-dirty)?\\))?\n")
        #expect(try pattern.prefixMatch(in: output) != nil, "\(output)")
        let libraries =
            ["Swift", "SQLite", "libyaml", "OpenSSL", "xxHash", "libarchive", "libcurl", "libmagic", "libpq"]
        let told = output.split(separator: "\n").dropFirst().map { $0.split(separator: " ") }
        #expect(told.map { $0.first.map(String.init) } == libraries)
        #expect(told.allSatisfy { $0.count == 2 && $0[1].first?.isNumber == true }, "\(output)")
    }

    @Test func watchingEndsInOrder() async throws {
        let log = fixture.scratch.path("log")
        let output = try OpenFile.open(log, O_WRONLY | O_CREAT, mode: 0o600)
        let arguments = ["status", "--watch", "--json", "--state", "state"].map { Array($0.utf8) }
        let process = try ChildProcess.spawn(
            DropmillBinary.path, arguments, output: output.descriptor, error: output.descriptor,
            folder: fixture.scratch.path)
        func lines() throws -> Int { try fixture.scratch.text("log").split(separator: "\n").count }
        let hasRepeated = try await eventually { try lines() >= 2 }
        kill(process, hasRepeated ? SIGINT : SIGKILL)
        #expect(try ChildProcess.wait(for: process, of: DropmillBinary.path) == 0)
        let whole = try fixture.scratch.text("log").split(separator: "\n").allSatisfy {
            $0 == #"{"daemon":{"running":false},"pipelines":[]}"#
        }
        #expect(whole)
    }

    private func writePipeline() throws {
        try fixture.scratch.write(
            """
            inbox: ../inbox
            processed: ../processed
            failed: ../failed
            match: { include: ["*.txt"] }
            ready: { quiet: 50ms }
            stages: [checksum]
            """, to: "pipelines/scans.yaml")
    }

    @Test func explainTellsByItsStatusWhetherSomethingTakesTheFile() throws {
        try writePipeline()
        try fixture.scratch.write("x", to: "inbox/a.txt")
        let taken = try run("explain", "inbox/a.txt")
        #expect(taken.status == 0)
        #expect(taken.text.hasPrefix("inbox/a.txt: a drop for the pipeline scans\n"))
        #expect(taken.text.contains("complete; a running daemon claims it at once"))
        #expect(try run("explain", "b.txt").status == 0)
        #expect(try run("explain", "a.pdf").status == 1)
        #expect(
            try run("explain", "/etc/passwd", "--json").text.hasPrefix(#"{"file":"/etc/passwd","place":"elsewhere""#))
        #expect(try run("explain", "a.txt", "nothing.yaml").status == 78)
    }

    @Test func doctorTellsByItsStatusWhetherSomethingIsWrong() throws {
        try writePipeline()
        #expect(try run("doctor").status == 0, "what is missing is made by the daemon")
        #expect(!fixture.scratch.exists("processed"))
        try fixture.scratch.makeFolder("inbox")
        let well = try run("doctor")
        #expect(well.status == 0)
        #expect(well.text.hasPrefix("checked as \(CurrentUser.name); no daemon is running\n"))
        try fixture.scratch.write("x", to: "failed")
        let wrong = try run("doctor", "--json")
        #expect(wrong.status == 1)
        #expect(wrong.text.contains(#""problems":1,"#))
    }

    /// Whatever the verb: results that nobody gets are an error.
    @Test(
        .enabled(if: access("/dev/full", W_OK) == 0),
        arguments: [["status"], ["stages"], ["--help"], ["--version"], ["status", "--watch"], ["jobs", "--json"]])
    func whatCannotBeWrittenIsAnError(arguments: [String]) throws {
        _ = try fixture.journal.beginRun(RunRecord(boot: "b", process: 42, startedAt: .now()))
        let full = try OpenFile.open("/dev/full", O_WRONLY)
        let log = fixture.scratch.path("errors")
        let errors = try OpenFile.open(log, O_WRONLY | O_CREAT | O_TRUNC, mode: 0o600)
        let state = ["stages", "--help", "--version"].contains(arguments[0]) ? [] : ["--state-dir", "state"]
        let process = try ChildProcess.spawn(
            DropmillBinary.path, (arguments + state).map { Array($0.utf8) }, output: full.descriptor,
            error: errors.descriptor, folder: fixture.scratch.path)
        #expect(try ChildProcess.wait(for: process, of: DropmillBinary.path) == 74)
        #expect(
            try fixture.scratch.text("errors") == "error: cannot write to standard output: No space left on device\n")
    }

    @Test func withoutAStandardOutputNothingElseIsWrittenTo() throws {
        let shell = try #require(Tool.find("sh"))
        let output = try shell.run(
            ["-c", "exec '\(DropmillBinary.path.string)' stages >&-"], in: fixture.scratch.path)
        #expect(output.status == 74)
    }

    @Test func whereADaemonHasItsJournalElsewhereItIsAsked() throws {
        let lock = try FolderLock(fixture.state, describedAs: "the state folder")
        defer { lock.release() }
        fixture.journal.close()
        for name in try Folder.names(in: fixture.state) { unlink(fixture.state.appending(name).string) }
        let status = try run("status")
        #expect(status.status == 75 && status.text.contains("the running daemon does not answer"), "\(status.text)")
        let forget = try run("forget", "x")
        #expect(forget.status == 1 && forget.text.contains("with --journal or DROPMILL_JOURNAL"), "\(forget.text)")
    }

    @Test func jobsThatWaitAreCalledQueued() throws {
        let output = try run("jobs", "--state", "waiting")
        #expect(output.status == 64)
        #expect(output.text.contains("drops wait in the inbox, jobs are 'queued'"))
    }

    @Test func aStateFolderThatIsNoneIsSaidToBeNone() throws {
        let file = try fixture.scratch.write("x", to: "file").string
        for words in [["status"], ["jobs"], ["pause"], ["forget", "x"]] {
            let output = try Tool(DropmillBinary.path).run(
                words + ["--state-dir", file], in: fixture.scratch.path)
            #expect(
                output.status != 0 && output.text.contains("is no folder; name another"), "\(words): \(output.text)")
        }
    }

    @Test func nothingFoundIsStatus1() throws {
        #expect(try run("jobs").status == 1)
        #expect(try run("jobs", "--json").text == "[]\n")
        #expect(try run("show", "x").status == 1)
        #expect(try run("retry", "x").status == 1)
        #expect(try run("retry").status == 64)
        #expect(try run("retry", "x", "--failed").status == 64)
    }

    @Test func statusSeesWhoHoldsTheFolder() throws {
        _ = try fixture.journal.beginRun(RunRecord(boot: "b", process: 42, startedAt: .now()))
        let lock = try FolderLock(fixture.state, describedAs: "the state folder")
        #expect(try run("status", "--json").text.hasPrefix(#"{"daemon":{"running":true,"process":42,"#))
        lock.release()
        #expect(try run("status", "--json").text.hasPrefix(#"{"daemon":{"running":false,"process":42,"#))
    }
}
