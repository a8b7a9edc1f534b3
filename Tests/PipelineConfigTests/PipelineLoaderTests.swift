import BuiltinStages
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import PipelineConfig

@Suite struct PipelineLoaderTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private let loader = PipelineLoader(registry: FakeStages.registry, environment: [:], cores: 2)

    /// The problems of these paths, the scratch folder's own path left out.
    private func problems(_ paths: String...) -> [String] {
        do throws(ConfigProblems) {
            _ = try loader.load(paths.map { scratch.path($0) })
            return []
        } catch {
            return error.all.map { $0.description.replacing("\(scratch.path.text)/", with: "") }
        }
    }

    private func write(
        _ file: String, inbox: String, processed: String = "done", failed: String = "failed", _ more: String = "",
        stages: String = "[checksum]"
    ) throws {
        let text = "inbox: \(inbox)\nprocessed: \(processed)\nfailed: \(failed)\nstages: \(stages)\n\(more)\n"
        try scratch.write(text, to: file)
    }

    // MARK: Files

    @Test func foldersAndFilesAreReadOnceAndInOrder() throws {
        try write("conf/b.yml", inbox: "b")
        try write("conf/a.yaml", inbox: "a")
        try write("other.yaml", inbox: "c")
        try scratch.write("no pipeline", to: "conf/README.md")
        try scratch.write("not: one", to: "conf/.hidden.yaml")
        try scratch.link("link", to: "conf")
        let paths = ["other.yaml", "conf", "conf/a.yaml", "link"].map { scratch.path($0) }
        #expect(try loader.load(paths).map(\.name) == ["other", "a", "b"])
    }

    @Test func filesThatCannotBeReadAreProblems() throws {
        try scratch.makeFolder("empty")
        try scratch.write(String(repeating: "#", count: (1 << 20) + 1), to: "big.yaml")
        try scratch.write("", to: "none.yaml")
        #expect(
            problems("missing.yaml", "empty", "big.yaml", "none.yaml") == [
                "big.yaml:1:1: error: larger than 1 MiB, which no pipeline needs",
                "empty:1:1: error: no *.yaml file in this folder; 'dropmill init' makes a first one",
                "missing.yaml:1:1: error: cannot open 'missing.yaml': No such file or directory; give a pipeline "
                    + "file or a folder of them",
                "none.yaml:1:1: error: the file is empty; a pipeline needs inbox, processed, failed and stages",
            ])
    }

    @Test func theFileNameMakesTheName() throws {
        try write("my scans.yaml", inbox: "in")
        #expect(
            problems("my scans.yaml") == [
                "my scans.yaml:1:1: error: the file's name 'my scans' is not a valid pipeline name; add 'name:'"
            ])
        try write("my scans.yaml", inbox: "in", "name: scans")
        #expect(problems("my scans.yaml") == [])
    }

    @Test func allProblemsOfAllFilesComeSorted() throws {
        try write("b.yaml", inbox: "in", "order: nam\nmatsch: {}\n")
        try write("a.yaml", inbox: "in", stages: "[unpak, unpack]")
        try scratch.write("a: [\n", to: "c.yaml")
        #expect(
            problems("c.yaml", "b.yaml", "a.yaml").map { $0.split(separator: " ").prefix(5).joined(separator: " ") }
                == [
                    "a.yaml:1:8: error: 'inbox' is the", "a.yaml:4:10: error: unknown stage 'unpak';",
                    "b.yaml:5:8: error: 'order': 'nam' is", "b.yaml:6:1: error: unknown key 'matsch';",
                    "c.yaml:2:1: error: not valid YAML:",
                ])
    }

    @Test func whatIsQuotedFromAFileCannotDriveATerminal() throws {
        try write("a.yaml", inbox: "in", #"name: "a\e[2J\nb""#)
        let problems = problems("a.yaml")
        #expect(problems.count == 1)
        #expect(problems[0].hasPrefix(#"a.yaml:5:7: error: 'name': 'a\x1B[2J\nb' is not a valid name"#))
        try write("a.yaml", inbox: "in", #"order: "\e[2J""#)
        #expect(self.problems("a.yaml")[0].hasPrefix(#"a.yaml:5:8: error: 'order': '\x1B[2J' is not one of"#))
    }

    /// The pipeline files that people get must be without problems.
    @Test func shippedPipelinesAreRight() throws {
        let root = FilePath(#filePath).removingLastComponent().removingLastComponent().removingLastComponent()
        let loader = PipelineLoader(registry: .builtin, environment: [:])
        #expect(try loader.load([root.appending("pipelines")]).map(\.name).contains("quickstart"))
    }

    // MARK: Folders in each other's way

    @Test(arguments: [
        (
            ["in", "in", "failed", ""],
            "a.yaml:2:12: error: 'processed' is the inbox; give it a folder beside the inbox"
        ),
        (
            ["in", "in/done", "failed", ""],
            "a.yaml:2:12: error: 'processed' is inside the inbox; give it a folder beside the inbox"
        ),
        (
            ["all/in", "all", "failed", ""],
            "a.yaml:2:12: error: 'processed' contains the inbox; give it a folder beside the inbox"
        ),
        (
            ["in", "done", "./x/../in", ""],
            "a.yaml:3:9: error: 'failed' is the inbox; give it a folder beside the inbox"
        ),
        (["in", "done", "done", ""], "a.yaml:3:9: error: 'failed' is the same folder as 'processed'; use two folders"),
        (
            ["real", "alias/done", "failed", ""],
            "a.yaml:2:12: error: 'processed' is inside the inbox; give it a folder beside the inbox"
        ),
        (
            ["in", "done", "failed", "work: in/work"],
            "a.yaml:5:7: error: 'work' is inside the inbox, which is scanned; use a folder beside it, or a name "
                + "that begins with '.'"
        ),
        (
            ["in", "done", "failed", "work: in"],
            "a.yaml:5:7: error: 'work' is the inbox, which is scanned; use a folder beside it, or a name that "
                + "begins with '.'"
        ),
        (
            ["w/in", "done", "failed", "work: w"],
            "a.yaml:5:7: error: 'work' contains the inbox, which is scanned; use a folder beside it, or a name that "
                + "begins with '.'"
        ),
        (["in", "done", "failed", "work: in/.work"], nil),
        (
            ["in", "done", "failed", "work: done"],
            "a.yaml:5:7: error: 'work' is 'processed'; claimed jobs need a folder of their own"
        ),
        (
            ["in", "done", "failed", "work: failed/w"],
            "a.yaml:5:7: error: 'work' is inside 'failed'; claimed jobs need a folder of their own"
        ),
        (["in", "done", "failed", "work: in2"], nil),
    ])
    func foldersOfOnePipeline(values: [String], message: String?) throws {
        try scratch.makeFolder("real")
        try scratch.link("alias", to: "real")
        try write("a.yaml", inbox: values[0], processed: values[1], failed: values[2], values[3])
        #expect(problems("a.yaml") == [message].compactMap { $0 })
    }

    @Test func theDefaultWorkFolderIsSomebodysToo() throws {
        try write("a.yaml", inbox: "in", processed: ".dropmill/a/done", failed: ".dropmill")
        let rest = "is in '.dropmill' beside the inbox, where claimed jobs live; use another folder"
        #expect(
            problems("a.yaml") == [
                "a.yaml:2:12: error: 'processed' \(rest)", "a.yaml:3:9: error: 'failed' \(rest)",
            ])
        try write("a.yaml", inbox: "in", processed: ".dropmill/a/done", failed: ".dropmill", "work: w")
        #expect(problems("a.yaml") == [])
    }

    @Test(arguments: [
        (
            "inbox: in",
            [
                "b.yaml:1:8: error: 'inbox' is the inbox of the pipeline in a.yaml; each pipeline needs an inbox "
                    + "of its own"
            ]
        ),
        (
            "inbox: in/sub",
            [
                "b.yaml:1:8: error: 'inbox' is inside the inbox of the pipeline in a.yaml; each pipeline needs "
                    + "an inbox of its own"
            ]
        ),
        (
            "inbox: .",
            [
                "b.yaml:1:8: error: 'inbox' contains the inbox of the pipeline in a.yaml; each pipeline needs an "
                    + "inbox of its own",
                "b.yaml:1:8: error: a work folder and an inbox overlap (see the pipeline in a.yaml); keep them apart",
            ]
        ),
        // Chained pipelines: what the first one is done with is dropped into the second one.
        ("inbox: done", []),
        ("inbox: out", []),
        (
            "inbox: in2\nname: a",
            ["b.yaml:2:7: error: the name 'a' is already used by the pipeline in a.yaml; set another 'name:'"]
        ),
        (
            "inbox: in2\nwork: w",
            [
                "b.yaml:2:7: error: 'work' is the work folder of the pipeline in a.yaml; each pipeline needs one "
                    + "of its own"
            ]
        ),
        (
            "inbox: in2\nwork: in/w",
            ["b.yaml:2:7: error: a work folder and an inbox overlap (see the pipeline in a.yaml); keep them apart"]
        ),
        (
            "inbox: w",
            ["b.yaml:1:8: error: a work folder and an inbox overlap (see the pipeline in a.yaml); keep them apart"]
        ),
    ])
    func foldersOfTwoPipelines(text: String, messages: [String]) throws {
        try write("a.yaml", inbox: "in", "work: w", stages: "[{move: {to: out}}]")
        try scratch.write("\(text)\nprocessed: /x/done2\nfailed: /x/failed2\nstages: [checksum]\n", to: "b.yaml")
        #expect(problems("a.yaml", "b.yaml") == messages)
    }

    // MARK: Stages that lead to nothing

    @Test(arguments: [
        (
            "[unpack]",
            "a.yaml:4:10: error: 'unpack' makes files that no later stage publishes; add 'move: { to: … }' after it"
        ),
        (
            "[move: {to: out}, unpack]",
            "a.yaml:4:27: error: 'unpack' makes files that no later stage publishes; add 'move: { to: … }' after it"
        ),
        ("[unpack, checksum, move: {to: 'out/{stem}'}]", nil),
        ("[unpack, unknown]", "a.yaml:4:18: error: unknown stage 'unknown'; known stages: unpack, checksum, move"),
        (
            "[move: {to: in}]",
            "a.yaml:4:21: error: 'to' is the pipeline's own inbox, where it would be claimed again; use another folder"
        ),
        (
            "[move: {to: 'in/x/{stem}'}]",
            "a.yaml:4:21: error: 'to' is inside the pipeline's own inbox, where it would be claimed again; use "
                + "another folder"
        ),
        ("[move: {to: 'in{stem}'}]", nil),
        (
            "[move: {to: '~/out'}]",
            "a.yaml:4:21: error: 'to': '~' is not expanded; write '${HOME}/…' or the path in full"
        ),
    ])
    func stages(stages: String, message: String?) throws {
        try write("a.yaml", inbox: "in", stages: stages)
        #expect(problems("a.yaml") == [message].compactMap { $0 })
    }

    @Test(arguments: [
        (
            "[checksum]",
            "a.yaml:2:12: error: 'processed' is 'delete' and no stage publishes anything, so every drop would be "
                + "destroyed; add 'move: { to: … }' or set 'processed' to a folder"
        ),
        ("[checksum, move: {to: out}]", nil),
        ("[unknown]", "a.yaml:4:10: error: unknown stage 'unknown'; known stages: unpack, checksum, move"),
    ])
    func deletingWhatWasNeverPublished(stages: String, message: String?) throws {
        try write("a.yaml", inbox: "in", processed: "delete", stages: stages)
        #expect(problems("a.yaml") == [message].compactMap { $0 })
    }

    // MARK: What is in the way of what is published

    @Test(
        arguments: [
            ("data", "'to' contains 'processed'"), ("data/done", "'to' is 'processed'"),
            ("data/{stem}", "'to' can become or contain 'processed'"),
            ("{pipeline}", "'to' can become or contain the inbox"), (".", "'to' contains the inbox"),
            ("/", "'to' contains the inbox"), ("data/x-{stem}", nil), ("out/{stem}", nil),
            ("out", nil),
        ] as [(String, String?)])
    func targetsInTheWayOfFolders(target: String, way: String?) throws {
        try write("a.yaml", inbox: "in", processed: "data/done", stages: "[unpack, move: {to: '\(target)'}]")
        let rest = ", and a published folder would replace it; use a folder of its own"
        #expect(problems("a.yaml") == way.map { ["a.yaml:4:29: error: \($0)\(rest)"] } ?? [])
    }

    @Test func targetsThatCanBeTheFolderAbove() throws {
        try write("a.yaml", inbox: "in", stages: "[unpack, move: {to: 'out/{ext}'}]")
        #expect(
            problems("a.yaml") == [
                "a.yaml:4:29: error: 'to' ends in a part that can be empty, and a folder would then replace the one "
                    + "above it; end it with '{stem}' or a fixed name"
            ])
        try write("a.yaml", inbox: "in", stages: "[move: {to: 'out/{ext}'}]")
        #expect(problems("a.yaml") == [])
    }

    @Test func targetsAmongClaimedJobs() throws {
        try write("a.yaml", inbox: "in", stages: "[move: {to: '.dropmill/x/{stem}'}]")
        #expect(
            problems("a.yaml") == [
                "a.yaml:4:21: error: 'to' is in a work folder, where claimed jobs live; use another folder"
            ])
    }

    @Test func targetsInTheWayOfOtherPipelines() throws {
        try write("a.yaml", inbox: "in", stages: "[unpack, move: {to: other}]")
        try write("b.yaml", inbox: "in2", processed: "other/done", failed: "failed2")
        #expect(
            problems("a.yaml", "b.yaml") == [
                "a.yaml:4:29: error: 'to' contains 'processed' of the pipeline in b.yaml, and a published folder "
                    + "would replace it; use a folder of its own"
            ])
    }

    @Test(arguments: [
        ("[move: {to: a}, move: {to: b}]", true), ("[move: {to: a, when: '*.zip'}, move: {to: b}]", true),
        ("[move: {to: a, when: '*.zip'}, move: {to: b, when: '*.zip'}]", true),
        ("[move: {to: a}, move: {to: b, when: '*.zip'}]", false),
        ("[move: {to: a, when: '*.pdf'}, move: {to: b, when: '*.zip'}]", false),
    ])
    func aStageThatPublishesInVain(stages: String, isRefused: Bool) throws {
        try write("a.yaml", inbox: "in", stages: stages)
        let message =
            "a.yaml:4:10: error: a later stage publishes the same drops elsewhere, so this 'move' does nothing; "
            + "remove one, or give each a 'when' of its own"
        #expect(problems("a.yaml") == (isRefused ? [message] : []))
    }

    // MARK: Chains

    @Test func chainsMustEnd() throws {
        try write("a.yaml", inbox: "a", processed: "b", failed: "fa")
        try write("b.yaml", inbox: "b", processed: "done", failed: "fb", stages: "[{move: {to: c}}]")
        try write("c.yaml", inbox: "c", processed: "done", failed: "fc")
        #expect(problems("a.yaml", "b.yaml", "c.yaml") == [])
        try write("c.yaml", inbox: "c", processed: "./a", failed: "fc")
        func message(_ place: String, _ key: String, _ next: String) -> String {
            "\(place): error: '\(key)' is the inbox of the pipeline in \(next), from which drops return here "
                + "in a loop; use a folder that no pipeline watches"
        }
        #expect(
            problems("a.yaml", "b.yaml", "c.yaml") == [
                message("a.yaml:2:12", "processed", "b.yaml"), message("b.yaml:4:22", "to", "c.yaml"),
                message("c.yaml:2:12", "processed", "a.yaml"),
            ])
    }

    @Test func reportsAreNoDrops() throws {
        try write("a.yaml", inbox: "a", failed: "b")
        try write("b.yaml", inbox: "b", failed: "fb")
        #expect(
            problems("a.yaml", "b.yaml") == [
                "a.yaml:3:9: error: 'failed' is the inbox of the pipeline in b.yaml, which would treat the reports "
                    + "(NAME.error.json) as drops; use a folder that no pipeline watches"
            ])
    }

    // MARK: Robustness

    /// Every beginning of a whole file, and hundreds of damaged copies, give pipelines or problems, never a crash.
    @Test func damagedFilesGiveProblems() throws {
        let text = """
            name: a
            inbox: &in "in"
            processed: delete
            failed: ${F:-failed}
            match: { include: ["*.{a,b}"], exclude: [x] }
            ready: { quiet: 1s, empty: fail }
            stages:
              - unpack
              - move: { to: "out/{date:%Y}/{stem}", workers: auto, when: "*" }
            """
        let bytes = Array(text.utf8)
        #expect(try loader.load([scratch.write(text, to: "a.yaml")]).count == 1)
        var generator = SeededGenerator(seed: 11)
        let interesting = Array("{}[]&*!|>'\"%@`#:-,? \n\t~$\\\u{7F}".utf8)
        for round in 0..<(bytes.count + 300) {
            var changed = round < bytes.count ? Array(bytes[..<round]) : bytes
            if round >= bytes.count {
                for _ in 0..<2 {
                    changed[Int.random(in: changed.indices, using: &generator)] =
                        interesting.randomElement(using: &generator) ?? 0
                }
            }
            let file = try scratch.write(changed, to: scratch.path("b.yaml"))
            do throws(ConfigProblems) {
                #expect(try loader.load([file]).count == 1)
            } catch {
                #expect(!error.all.isEmpty)
            }
        }
    }
}
