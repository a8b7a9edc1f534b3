import BuiltinStages
import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineConfig

/// Where lists of digests are kept, nothing else gets their names.
@Suite("List folders") struct ListFoldersTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The names of one pipeline beside another that keeps lists in `a/done` and below `a/out`.
    private func names(
        processed: String, failed: String = "b/failed", to: String = "b/out"
    ) throws -> (published: [String], failed: [String]) {
        func file(_ name: String, _ processed: String, _ failed: String, _ to: String, _ options: String) throws {
            try scratch.write(
                """
                name: \(name)
                inbox: \(name)/in
                processed: \(processed)
                failed: \(failed)
                stages:
                  - checksum\(options)
                  - move: { to: "\(to)/{date:%Y}" }

                """, to: "pipelines/\(name).yaml")
        }
        try file("a", "a/done", "a/failed", "a/out", ": { into: list, algorithm: [sha256, md5] }")
        try file("b", processed, failed, to, "")
        let loader = PipelineLoader(registry: .builtin, environment: [:])
        let pipelines = try loader.load([scratch.path("pipelines")])
        let keeper = try #require(pipelines.first { $0.name == "a" })
        #expect(keeper.lists.names.map(\.text) == ["MD5SUMS", "SHA256SUMS"])
        #expect(keeper.listsInFailed.isEmpty)
        let other = try #require(pipelines.first { $0.name == "b" })
        return (other.lists.names.map(\.text), other.listsInFailed.names.map(\.text))
    }

    @Test("In the same folder, above it, below it, and through a link")
    func shared() throws {
        let lists = ["MD5SUMS", "SHA256SUMS"]
        #expect(try names(processed: "b/done") == ([], []))
        #expect(try names(processed: "a/done") == (lists, []))
        #expect(try names(processed: "a/done/below") == (lists, []))
        #expect(try names(processed: "b/done", to: "a") == (lists, []))
        #expect(try names(processed: "b/done", failed: "a/out/failed") == ([], lists))
        try scratch.makeFolder("pipelines/a/done")
        try scratch.link("pipelines/linked", to: "a/done")
        #expect(try names(processed: "linked") == (lists, []))
    }

    @Test("Other case, and dots and blanks at the end, are the same name to some file systems")
    func folded() throws {
        let lists = ListNames([try #require(FileName("SHA256SUMS"))])
        for name in ["SHA256SUMS", "sha256sums", "Sha256Sums.", "SHA256SUMS. ."] {
            #expect(lists.contains(try #require(FileName(name))), "\(name)")
        }
        for name in ["SHA256SUMS.2", "SHA256SUM", ".SHA256SUMS", "..."] {
            #expect(!lists.contains(try #require(FileName(name))), "\(name)")
        }
        #expect(ListNames().isEmpty)
    }
}
