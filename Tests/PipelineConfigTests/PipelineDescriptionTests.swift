import TestSupport
import Testing

@testable import PipelineConfig

@Suite struct PipelineDescriptionTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private let loader = PipelineLoader(registry: FakeStages.registry, environment: [:], cores: 2)

    @Test func descriptionsAreReadAsFilesAre() throws {
        let text = "inbox: in\nprocessed: done\nfailed: failed\nstages: [checksum]\n"
        let named = PipelineDescription(name: "a", base: scratch.path, text: text)
        let pipelines = try loader.load([named])
        #expect(pipelines.map(\.name) == ["a"] && pipelines.map(\.inbox) == [scratch.path("in")])
        for name in ["", "a/b", "../a"] {
            let error = #expect(throws: ConfigProblems.self) {
                try loader.load([PipelineDescription(name: name, base: scratch.path, text: text)])
            }
            #expect(error?.all.first?.message.contains("is not a valid pipeline name") == true, "\(name)")
        }
    }
}
