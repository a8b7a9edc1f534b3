import BuiltinStages
import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct StampStageTests {
    @Test func aLineComesFirst() throws {
        let fixture = try StageFixture(drop: "a.txt", Array("text".utf8))
        let payload = try fixture.run("stamp", ["line": "Seen."])
        #expect(try ScratchFolder.read(payload.path) == Array("Seen.\ntext".utf8))
    }
}

extension StampStage: ContractSubject {
    static var contract: StageContract { StageContract(handsOn: [.folder], work: .plainFile) }
}

/// docs/adding-a-stage.md shows the stage above, and the file of this suite's neighbour, as they are compiled here.
@Suite struct AddingAStageTests {
    private static let here = FilePath(#filePath).removingLastComponent()

    private func text(_ path: FilePath) throws -> String {
        String(decoding: try ScratchFolder.read(path), as: UTF8.self)
    }

    /// One file and one test file a kind, called after it.
    @Test(arguments: StageRegistry.builtin.descriptors.map(\.kind))
    func aKindIsWhereOneLooksForIt(kind: String) throws {
        let name = String(describing: try #require(StageRegistry.builtin.type(of: kind)))
        #expect(name.lowercased() == kind + "stage")
        // Else what it says besides a `Stage` would not be heard.
        #expect(StageRegistry.builtin.type(of: kind) is any OwnStage.Type)
        let sources = Self.here.pushing("../../Sources/BuiltinStages")
        #expect(try FileTree.list(sources).files.filter { $0.relative.lastComponent?.stem == name }.count == 1)
        #expect(Folder.kind(of: Self.here.pushing(FilePath("\(name)Tests.swift"))) == .regular)
    }

    @Test func thePageShowsWhatIsCompiled() throws {
        let page = try text(Self.here.pushing("../../docs/adding-a-stage.md"))
        let stage = try text(Self.here.appending("StampStage.swift"))
        #expect(page.contains("```swift\n\(stage)```\n"))
        #expect(stage.split(separator: "\n", omittingEmptySubsequences: false).count <= 41, "40 lines and a line end")
        let suite = try text(Self.here.appending("StampStageTests.swift"))
        let start = try #require(suite.firstRange(of: "@Suite struct StampStageTests"))
        let end = try #require(suite.firstRange(of: "\n/// docs/"))
        #expect(page.contains("```swift\n\(suite[start.lowerBound..<end.lowerBound])```\n"))
    }
}
