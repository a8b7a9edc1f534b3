import PipelineKit
import Testing

@testable import PipelineConfig

/// `formerly`: what a pipeline takes over, which can be taken over once, and only what is gone.
@Suite struct FormerlyKeyTests {
    private func load(_ keys: [String]) throws(ConfigProblems) -> [Pipeline] {
        let descriptions = keys.enumerated().map { index, keys in
            let folders = "inbox: /x/in\(index)\nprocessed: /x/done\(index)\nfailed: /x/failed\(index)\n"
            return PipelineDescription(
                name: "p\(index)", base: "/x", text: "\(folders)stages: [checksum]\n\(keys)\n")
        }
        return try PipelineLoader(registry: FakeStages.registry, environment: [:]).load(descriptions)
    }

    @Test func isRead() throws {
        let pipelines = try load(["formerly: press", "name: other"])
        #expect(pipelines.map(\.formerly) == ["press", nil])
        #expect(pipelines.first?.differences(from: pipelines[1]).contains("formerly") == true)
    }

    @Test(arguments: [
        (["formerly: p0"], "/x/p0.yaml:5:11: error: 'formerly' is the pipeline's own name; leave it out"),
        (
            ["formerly: press", "name: press"],
            "/x/p0.yaml:5:11: error: 'formerly': the pipeline 'press' is still there, in /x/p1.yaml; remove it, or "
                + "leave this out"
        ),
        (
            ["formerly: press", "formerly: press"],
            "/x/p1.yaml:5:11: error: 'formerly': the jobs of 'press' already go to the pipeline in /x/p0.yaml; leave "
                + "one out"
        ),
        (
            ["formerly: ../press"],
            "/x/p0.yaml:5:11: error: 'formerly': '../press' is not a valid name; use at most 64 letters, digits, '-', "
                + "'_' and '.', with no dot in front"
        ),
    ])
    func isRefused(keys: [String], message: String) {
        let problems = #expect(throws: ConfigProblems.self) { try load(keys) }
        #expect(problems?.all.map(\.description) == [message])
    }
}
