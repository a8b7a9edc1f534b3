import BuiltinStages
import PipelineConfig
import SystemPackage
import TestSupport
import Testing

/// Folders of one pipeline in the way of another's, or of its own.
@Suite struct FolderIndexTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func problems(_ files: [String]) -> [String] {
        let loader = PipelineLoader(registry: .builtin, environment: [:], cores: 2)
        do throws(ConfigProblems) {
            _ = try loader.load(files.map { scratch.path($0) })
            return []
        } catch {
            return error.all.map(\.message)
        }
    }

    private func write(_ file: String, _ inbox: String, failed: String = "failed", to target: String = "out") throws {
        try scratch.write(
            "inbox: \(inbox)\nprocessed: data/done\nfailed: \(failed)\nstages: [move: {to: '\(target)'}]\n", to: file)
    }

    @Test(
        "What is published does not mix with originals; a file that goes into a folder above takes nothing's place",
        arguments: [
            ("data", false), ("data/{stem}", false), ("{pipeline}", false), (".", false), ("/", false), ("out", false),
            ("data/done", true), ("data/done/{stem}", true), ("data/bad", true), ("data/bad/x", true),
        ])
    func originals(target: String, isRefused: Bool) throws {
        try write("a.yaml", "in", failed: "data/bad", to: target)
        let found = problems(["a.yaml"])
        #expect(found.count == (isRefused ? 1 : 0), "\(found)")
        #expect(found.allSatisfy { $0.contains("'to' is in '") && $0.contains("where originals go") })
    }

    @Test("Whoever stands in each other's way is found, and nobody else is")
    func neighbours() throws {
        for (name, inbox) in [("a", "in/a"), ("b", "in/b"), ("c", "in/a/sub"), ("d", "in/b"), ("e", "in")] {
            try write("\(name).yaml", inbox)
        }
        #expect(problems(["a.yaml", "b.yaml"]) == [])
        #expect(problems(["a.yaml", "c.yaml"]).count == 1)
        #expect(problems(["b.yaml", "d.yaml"]).count == 1)
        #expect(problems(["a.yaml", "b.yaml", "e.yaml"]).count == 2)
        try scratch.link("alias", to: "in/b")
        try scratch.makeFolder("in/b")
        try write("f.yaml", "alias")
        #expect(problems(["b.yaml", "f.yaml"]).count == 1)
    }
}
