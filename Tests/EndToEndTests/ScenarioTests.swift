import Files
import SystemPackage
import TestSupport
import Testing

/// Runs every file in `samples/scenarios` against the real program.
@Suite struct ScenarioTests {
    private static let folder = ScenarioRunner.samples.appending("scenarios")

    private static func scenarios() throws -> [String] {
        try Folder.names(in: folder).map(\.text).filter { $0.hasSuffix(".txt") }.sorted()
    }

    @Test(arguments: try scenarios())
    func runs(_ name: String) async throws {
        let text = String(decoding: try ScratchFolder.read(Self.folder.appending(name)), as: UTF8.self)
        var runner = try ScenarioRunner()
        try await runner.run(try Scenario(text))
    }

    @Test func thereAreSome() throws {
        #expect(try Self.scenarios().count >= 12)
    }

    @Test(arguments: try scenarios())
    func parses(_ name: String) throws {
        let text = String(decoding: try ScratchFolder.read(Self.folder.appending(name)), as: UTF8.self)
        #expect(text.hasPrefix("# "), "a scenario begins with what it shows")
        let steps = try Scenario(text).steps
        #expect(steps.contains { if case .pipeline = $0.action { true } else { false } })
    }
}
