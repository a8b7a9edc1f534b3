import ArgumentParser
import BuiltinStages
import Files
import PipelineConfig
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand
@testable import PipelineEngine

@Suite struct CommandTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test func theStarterPipelineIsRight() throws {
        let file = try scratch.write(InitCommand.starter, to: "pipelines/starter.yaml")
        let pipelines = try PipelineLoader(registry: .builtin, environment: [:]).load([file])
        #expect(pipelines.map(\.name) == ["starter"])
        #expect(pipelines.map(\.inbox) == [scratch.path("inbox")])
    }

    @Test func initNeverOverwrites() throws {
        try scratch.write("mine", to: "pipelines/starter.yaml")
        try InitCommand.parse([scratch.path.string]).run(with: .builtin)
        #expect(try scratch.text("pipelines/starter.yaml") == "mine")
        #expect(try scratch.tree().contains("inbox/"))
    }

    /// The line names the file beside it, which holds what `check --schema` prints.
    @Test func editorsKnowWhatTheStarterIs() throws {
        try InitCommand.parse([scratch.path.string]).run(with: .builtin)
        let line = try #require(try scratch.text("pipelines/starter.yaml").split(separator: "\n").first)
        let mark = "# yaml-language-server: $schema="
        #expect(line.hasPrefix(mark))
        let schema = try scratch.text("pipelines/\(line.dropFirst(mark.count))")
        let printed = try Tool(DropmillBinary.path).run(["check", "--schema"])
        #expect(printed.text == schema)
        #expect(try Tool(DropmillBinary.path).run(["check", scratch.path("pipelines").string]).status == 0)
    }

    @Test(arguments: [
        (["run", "--grace", "3x"], 64), (["run", "--keep-history", "long"], 64), (["run", "--log-level", "loud"], 64),
        (["run", "--keep-history", "0"], 64),
        (["run", "--log-format", "xml"], 64),
        (["frobnicate"], 64), (["stages", "--json", "--markdown"], 64), (["stages", "--json", "--brief"], 64),
        (["run", "--node", "x"], 64), (["run", "--journal", "dbname=x", "--node", ""], 64),
        (["run", "--journal", "dbname=x", "--node", "a\nb"], 64), (["jobs", "--journal", ""], 78), (["nodes"], 64),
        (["journal", "init"], 64), (["run", "--journal", "host=db password=x"], 78),
        (["retry", "x", "--journal", "postgresql://me:x@db/d"], 78), (["status", "--journal", "nothing"], 78),
        (["status", "--journal", "dbname=x", "--by", "producer"], 64),
        (["--version"], 0),
    ])
    func usage(arguments: [String], status: Int) {
        #expect(throws: (any Error).self) { _ = try DropmillCommand.parseAsRoot(arguments) }
        do {
            _ = try DropmillCommand.parseAsRoot(arguments)
        } catch {
            #expect(DropmillCommand.exitCode(for: error).rawValue == Int32(status))
        }
    }

    @Test func optionsOfRunAreRead() throws {
        let command = try RunCommand.parse([
            "a.yaml", "b", "--once", "--state", "s", "--log-format", "json", "--grace", "250ms",
        ])
        #expect(command.pipelines.paths == ["a.yaml", "b"])
        #expect(command.once)
        #expect(command.state.folder.path == "s")
        #expect(command.logging.logFormat == .json)
        #expect(command.logging.logLevel == nil)
        #expect(command.grace == .milliseconds(250))
        #expect(try RunCommand.parse([]).grace == .seconds(30))
        #expect(try RunCommand.parse([]).keepHistory == nil)
        // What it was called at first works, and is told nobody.
        #expect(!RunCommand.helpMessage().contains("--state "))
        #expect(!ShowCommand.helpMessage().contains("--state "))
        let other = try RunCommand.parse(["--state-dir", "t", "--keep-history", "12h"])
        #expect(other.state.folder.path == "t")
        #expect(other.keepHistory == .seconds(43200))
    }

    @Test func aNodeIsCalledAsTheHostUnlessSaidOtherwise() throws {
        let own = try RunCommand.parse(["--journal", "service=mill", "--node", "mill-1"])
        #expect(own.node.name == "mill-1" && own.node.journal.place == "service=mill")
        let other = try RunCommand.parse(["--journal", "service=mill"])
        #expect(!other.node.name.isEmpty && other.node.name != "mill-1")
        #expect(try RunCommand.parse([]).node.journal.place == nil)
        let told = DropmillCommand.unsharedVerb(["pause"], "Error: Unknown option '--journal'")
        #expect(told?.contains("'pause'") ?? false)
        #expect(DropmillCommand.unsharedVerb(["pause"], "Error: Unknown option '--jour'") == nil)
    }

    @Test func theClosingLineCounts() throws {
        var summary = RunSummary()
        summary.processed = 3
        summary.failed = 1
        #expect(RunCommand.closing(summary) == ["3 processed, 1 failed"])
        summary.unfinished = 2
        let name = try #require(FileName("a\nb"))
        summary.remaining = [
            .init(pipeline: "scans", path: DropPath(name), reason: "stays in the inbox: still being written")
        ]
        #expect(
            RunCommand.closing(summary) == [
                "3 processed, 1 failed, 2 unfinished", #"scans: a\nb stays in the inbox: still being written"#,
            ])
    }

    @Test func unfinishedJobsAreTrouble() throws {
        var summary = RunSummary()
        summary.processed = 3
        #expect(!RunCommand.hadTrouble(summary))
        summary.unfinished = 1
        #expect(RunCommand.hadTrouble(summary))
        (summary.unfinished, summary.failed) = (0, 1)
        #expect(RunCommand.hadTrouble(summary))
        summary.failed = 0
        summary.remaining = [.init(pipeline: "scans", path: DropPath(try #require(FileName("a"))), reason: "growing")]
        #expect(!RunCommand.hadTrouble(summary))
        summary.remaining[0].isContradicted = true
        #expect(RunCommand.hadTrouble(summary))
    }

    @Test(arguments: [
        ("cannot create 'x'", "error: cannot create 'x'"),
        ("a.yaml: error: cannot create 'x'", "a.yaml: error: cannot create 'x'"),
    ])
    func aProblemSaysOnceThatItIsOne(problem: String, line: String) {
        #expect(StandardError.line(of: problem) == line)
    }

    @Test func aPipelineIsSummedUpInALine() {
        var pipeline = Pipeline(
            name: "scans", source: "scans.yaml", inbox: "/in", processed: .folder("/done"), failed: "/failed")
        #expect(CheckCommand.summary(of: pipeline) == "scans: /in → /done")
        pipeline.processed = .delete
        #expect(CheckCommand.summary(of: pipeline) == "scans: /in → deleted")
    }

    @Test func stageTablesHoldEveryKindAndOption() {
        let descriptors = StageRegistry.builtin.descriptors
        let tables = StageListing.markdown(descriptors)
        let rows = StageListing.briefMarkdown(descriptors).split(separator: "\n")
        #expect(rows.count == descriptors.count + 2)
        #expect(StageListing.brief(descriptors).split(separator: "\n").count == descriptors.count)
        for descriptor in descriptors {
            #expect(tables.contains("### \(descriptor.kind)\n\n\(descriptor.summary)\n"))
            #expect(rows.contains { $0.contains("[`\(descriptor.kind)`]") })
            for option in descriptor.options { #expect(tables.contains("\n| `\(option.name)` | ")) }
        }
    }
}
