import Files
import PipelineKit
import Testing

@testable import Control

/// What the board says of uploads.
@Suite struct UploadAnswerTests {
    private func answer(_ change: (inout Pipeline) -> Void) -> BoardPipeline.Upload? {
        var pipeline = Pipeline(
            name: "press", source: "/etc/press.yaml", inbox: "/in", processed: .delete, failed: "/failed")
        pipeline.upload = UploadRule()
        change(&pipeline)
        return BoardPipeline.Upload(pipeline)
    }

    @Test func itIsWhatIsTaken() {
        #expect(answer { _ in } == .init(most: 4 << 30, match: [], folders: .no, depth: 1))
        #expect(answer { $0.match.include = [Glob("*.pdf")].compactMap(\.self) }?.match == ["*.pdf"])
        #expect(answer { $0.match.depth = 2 }?.folders == .asFiles)
        #expect(answer { $0.ready.limits.size = ByteSize(bytes: 7) }?.most == 7)
        #expect(answer { $0.upload = nil } == nil)
        #expect(answer { $0.ready.unit = .folder }?.folders == .asOne)
        #expect(answer { $0.match.depth = .max }?.depth == nil)
    }
}
