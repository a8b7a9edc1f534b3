import BuiltinStages
import Files
import Glibc
import PipelineConfig
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import DropmillCommand

/// The manual pages tell of everything, and are what man(7) asks for.
@Suite struct ManualTests {
    private let pages: [ManualPage]

    init() throws {
        pages = try #require(
            Manual.pages(
                StageRegistry.builtin.descriptors, help: DropmillCommand._dumpHelp(), date: "2026-11-26"))
    }

    private func page(_ file: String) throws -> String { try #require(pages.first { $0.file == file }).text }

    @Test func everyVerbIsThereWithItsOptions() throws {
        let page = try page("dropmill.1")
        for verb in DropmillCommand.configuration.subcommands where verb.configuration.shouldDisplay {
            let name = try #require(verb.configuration.commandName)
            #expect(page.contains(".SS \"dropmill \(name)"), "\(name)")
        }
        #expect(!page.contains(".SS \"dropmill man"), "it is for packages")
        for option in ["dry\\-run", "state\\-dir", "max\\-age", "rate", "grace"] {
            #expect(page.contains("\\fB\\-\\-\(option)\\fR"), "\(option)")
        }
        for (status, _) in ExitStatus.meanings { #expect(page.contains("\\fB\(status)\\fR")) }
    }

    @Test func everyKeyAndEveryStageIsThere() throws {
        let keys = try page("dropmill-pipeline.5")
        #expect(DescribedKey.ofPipelines.count >= 40)
        for key in DescribedKey.ofPipelines { #expect(keys.contains(ManualPage.bold(key.path)), "\(key.path)") }
        let settings = try page("dropmill.yaml.5")
        for key in DescribedKey.ofSettings { #expect(settings.contains(ManualPage.bold(key.path)), "\(key.path)") }
        let stages = try page("dropmill-stages.7")
        for descriptor in StageRegistry.builtin.descriptors {
            #expect(stages.contains(".SS \"\(descriptor.kind)\""), "\(descriptor.kind)")
            for option in descriptor.options {
                #expect(stages.contains(ManualPage.bold(option.name)), "\(descriptor.kind) \(option.name)")
            }
        }
    }

    @Test func operatingTellsOfTheSameStatuses() throws {
        let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        let operating = try String(decoding: ScratchFolder.read(root.pushing("docs/operating.md")), as: UTF8.self)
        let rows = operating.split(separator: "\n").compactMap { line -> Int32? in
            let cells = line.split(separator: "|").map { $0.split(separator: " ").joined() }
            return cells.first.flatMap { Int32($0) }
        }
        #expect(rows == ExitStatus.meanings.map(\.status))
    }

    @Test func whatRoffTakesForItsOwnIsShown() {
        var page = ManualPage("x", section: 1, "a", date: "", version: "")
        page.prose(".dot\n'quote \\back `--flag` \"said\"\n\n  .shown as it is\n  \\\n\nafter", isFirst: true)
        #expect(
            page.text.hasSuffix(
                """
                \\&.dot
                \\&'quote \\eback \\fB\\-\\-flag\\fR \\(dqsaid\\(dq
                .PP
                .RS 4
                .EX
                \\&.shown as it is
                \\e
                .EE
                .RE
                .PP
                after

                """), "\(page.text)")
    }

    @Test(.enabled(if: Tool.find("mandoc") != nil, Comment(rawValue: Tool.skip("mandoc"))))
    func mandocHasNoComplaint() throws {
        let scratch = try ScratchFolder()
        let written = try Tool(DropmillBinary.path).run(["man", "--to", "man"], in: scratch.path)
        #expect(written.status == 0, "\(written.text)")
        #expect(try scratch.tree("man") == pages.map(\.file).sorted())
        for page in pages {
            let lint = try #require(Tool.find("mandoc")).run(["-T", "lint", "man/\(page.file)"], in: scratch.path)
            #expect(lint.status == 0 && lint.text.isEmpty, "\(lint.text)")
        }
    }

    @Test(.enabled(if: Tool.find("groff") != nil, Comment(rawValue: Tool.skip("groff"))))
    func groffHasNoComplaint() throws {
        let scratch = try ScratchFolder()
        for page in pages {
            try scratch.write(page.text, to: page.file)
            let output = try #require(Tool.find("groff")).run(
                ["-man", "-ww", "-z", "-Tutf8", "-k", page.file], in: scratch.path)
            #expect(output.status == 0 && output.text.isEmpty, "\(output.text)")
        }
    }
}
