import BuiltinStages
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import dropmill

@Suite("README") struct ReadmeTests {
    private static let path = FilePath(#filePath).removingLastComponent().pushing("../../README.md")

    @Test("The stage table is what the code's own descriptors say")
    func stageTable() throws {
        let readme = String(decoding: try ScratchFolder.read(Self.path), as: UTF8.self)
        let begin = try #require(readme.firstRange(of: "<!-- stages -->\n"))
        let end = try #require(readme.firstRange(of: "\n<!-- /stages -->"))
        let table = readme[begin.upperBound..<end.lowerBound]
        #expect(
            table == StageListing.markdown(StageRegistry.builtin.descriptors),
            "put what `dropmill stages --markdown` prints between the markers of README.md")
    }
}
