import BuiltinStages
import SystemPackage
import TestSupport
import Testing

@testable import PipelineConfig

@Suite struct ResolvedFolderTests {
    @Test(.enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func oneInboxUnderTwoPathsIsSeen() throws {
        let scratch = try ScratchFolder()
        let mount = try TemporaryMount(bind: try scratch.makeFolder("in"), at: scratch.path("again"))
        for (file, inbox) in [("a", "in"), ("b", "again")] {
            try scratch.write(
                "inbox: \(inbox)\nprocessed: done-\(file)\nfailed: failed-\(file)\nstages: [checksum]\n",
                to: "\(file).yaml")
        }
        let loader = PipelineLoader(registry: .builtin, environment: [:])
        let paths = ["a.yaml", "b.yaml"].map { scratch.path($0) }
        do throws(ConfigProblems) {
            _ = try loader.load(paths)
            Issue.record("two pipelines would claim from one folder")
        } catch {
            let message = error.all.first?.message ?? ""
            #expect(message.hasPrefix("'inbox' is the inbox of the pipeline in"))
            #expect(message.hasSuffix(", by another mount; each pipeline needs an inbox of its own"))
        }
        withExtendedLifetime(mount) {}
    }
}
