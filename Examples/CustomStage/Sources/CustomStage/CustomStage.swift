import Dropmill
import Foundation

/// Runs two texts through a pipeline with a stage of its own, once.
@main
struct CustomStage {
    static func main() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: "words-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let inbox = folder.appending(path: "inbox")
        try FileManager.default.createDirectory(at: inbox, withIntermediateDirectories: true)
        try Data("The quick brown fox jumps over the lazy dog.\n".utf8).write(to: inbox.appending(path: "fox.txt"))
        try Data("Too short.\n".utf8).write(to: inbox.appending(path: "short.txt"))

        let pipeline = PipelineDescription(
            name: "count", base: FilePath(folder.path()),
            text: """
                inbox: inbox
                processed: processed
                failed: failed
                ready: { quiet: 100ms }
                order: name
                stages:
                  - words: { to: counts, minimum: 3 }
                """)
        let mill = Mill(
            pipelines: [pipeline], registry: StageRegistry([WordStage.self]),
            state: FilePath(folder.appending(path: "state").path())
        ) { event in
            guard event.kind == .failed, let failure = event.failure else { return }
            print("\(event.drop?.text ?? ""): \(failure.summary) \(failure.remedy)")
        }
        let summary = try await mill.runOnce()
        let count = try String(contentsOf: folder.appending(path: "counts/fox.txt.words"), encoding: .utf8)
        print("fox.txt: \(count)\(summary.processed) processed, \(summary.failed) failed")
    }
}
