import Files
import SystemPackage
import Testing

@testable import PipelineKit

/// Which files may be sent in, by what is known of them before a byte is.
@Suite struct UploadPlaceTests {
    private func pipeline(_ change: (inout Pipeline) -> Void = { _ in }) -> Pipeline {
        var pipeline = Pipeline(
            name: "press", source: "/etc/press.yaml", inbox: "/in", processed: .delete, failed: "/failed")
        pipeline.upload = UploadRule(most: ByteSize(bytes: 100))
        change(&pipeline)
        return pipeline
    }

    private func refusal(_ path: String, size: Int64 = 1, _ pipeline: Pipeline? = nil) -> UploadRefusal? {
        refusal(Array(path.utf8), size: size, pipeline)
    }

    private func folderRefusal(
        _ path: String, size: Int64 = 1, files: Int = 1, _ change: (inout Pipeline) -> Void = { _ in }
    ) -> UploadRefusal.Code? {
        let pipeline = pipeline {
            $0.ready.unit = .folder
            change(&$0)
        }
        do throws(UploadRefusal) {
            _ = try pipeline.place(ofUpload: Array(path.utf8), size: size, files: files)
            return nil
        } catch {
            return error.code
        }
    }

    private func partRefusal(_ path: String, isFolder: Bool = false) -> UploadRefusal.Code? {
        do throws(UploadRefusal) {
            _ = try pipeline { $0.ready.limits.depth = 2 }.place(ofPart: Array(path.utf8), isFolder: isFolder)
            return nil
        } catch {
            return error.code
        }
    }

    private func refusal(_ path: [UInt8], size: Int64 = 1, _ pipeline: Pipeline? = nil) -> UploadRefusal? {
        do throws(UploadRefusal) {
            _ = try (pipeline ?? self.pipeline()).place(ofUpload: path, size: size)
            return nil
        } catch {
            return error
        }
    }

    @Test func whatWouldBeADropIsTaken() throws {
        let deep = pipeline { $0.match.depth = 3 }
        let place = try deep.place(ofUpload: Array("2026/march/a.pdf".utf8), size: 100)
        #expect(place.text == "2026/march/a.pdf" && place.folder.depth == 2)
        #expect(refusal([0xFF, 0x0A]) == nil, "names are bytes")
        #expect(refusal(String(repeating: "a", count: 255)) == nil)
    }

    @Test(arguments: [
        "", "/a", "a/", "a//b", ".", "..", "../a", "a/../b", "a\0b", ".a", "~a", "a.part", "a.PART", "a.tmp", "a~",
        ".dropmill-1.upload",
    ])
    func aNameThatIsNoDropIsRefused(path: String) {
        #expect(refusal(path, pipeline { $0.match.depth = 9 })?.code == .nameRefused)
    }

    @Test func theRulesOfThePipelineHold() {
        #expect(refusal("a/b")?.fact == "it would be 2 levels deep, and 'press' searches the inbox alone")
        #expect(refusal(String(repeating: "a", count: 256))?.code == .nameRefused)
        let narrow = pipeline { pipeline in
            pipeline.match = MatchRule(include: [Glob("*.pdf")].compactMap(\.self), depth: 2)
            pipeline.match.exclude = [Glob("old*")].compactMap(\.self)
        }
        #expect(refusal("a.txt", narrow)?.fact == "'press' takes *.pdf, and not 'a.txt'")
        #expect(refusal("old.pdf", narrow)?.fact == "'press' leaves 'old*' alone, and so 'old.pdf'")
        #expect(refusal("older/a.pdf", narrow)?.fact == "'press' does not search folders called 'older'")
        #expect(refusal(".git/a.pdf", narrow)?.code == .nameRefused)
        #expect(refusal("x/a.pdf", narrow) == nil)
        let deep = pipeline { $0.match.depth = .max }
        #expect(refusal(Array(repeating: "abcdefgh", count: 300).joined(separator: "/"), deep)?.code == .nameRefused)
    }

    @Test func sizesHaveTheirLimits() {
        #expect(refusal("a", size: 100) == nil)
        #expect(refusal("a", size: 101)?.code == .tooLarge)
        #expect(refusal("a", size: .max)?.code == .tooLarge)
        #expect(refusal("a", size: -1)?.code == .otherLength)
        #expect(refusal("a", size: 11, pipeline { $0.ready.limits.size = ByteSize(bytes: 10) })?.code == .tooLarge)
        #expect(refusal("a", size: 101, pipeline { $0.ready.limits.size = ByteSize(bytes: 200) })?.code == .tooLarge)
    }

    @Test func whereNothingIsAllowedNothingIsTaken() {
        #expect(refusal("a", pipeline { $0.upload = nil })?.code == .notAllowed)
        #expect(refusal("a", pipeline { $0.ready.unit = .folder })?.code == .otherUnit)
        #expect(throws: UploadRefusal.self) { try pipeline().place(ofUpload: [97], size: 1, files: 1) }
    }

    @Test func aFolderIsOneDrop() throws {
        #expect(folderRefusal("box", size: 100) == nil)
        #expect(folderRefusal("box", size: 0, files: 0) == nil)
        #expect(folderRefusal("box", size: 101) == .tooLarge)
        #expect(folderRefusal("box", files: -1) == .otherLength)
        #expect(folderRefusal("box", files: 10_000) == nil)
        #expect(folderRefusal("box", files: 10_001) == .tooManyEntries)
        #expect(folderRefusal("box", files: 4) { $0.ready.limits.entries = 3 } == .tooManyEntries)
        for name in ["", ".box", "box.part", "..", "a/box", String(repeating: "a", count: 256)] {
            #expect(folderRefusal(name) == .nameRefused, "\(name)")
        }
        let marker = try MarkerRule(Template("{name}.done", use: .name))
        let marked = pipeline {
            $0.ready.unit = .folder
            $0.ready.marker = marker
        }
        #expect(refusal("box.done", marked) == nil, "a marker is a file")
    }

    @Test func whatIsInAFolderHasPlainNames() {
        for path in ["a", "a/b", "a/b/c", "a b/ü\n", String(repeating: "a", count: 255)] {
            #expect(partRefusal(path) == nil, "\(path)")
        }
        #expect(partRefusal("a/b", isFolder: true) == nil)
        #expect(partRefusal("a/b/c", isFolder: true) == .nameRefused)
        let long = String(repeating: "a", count: 256)
        for path in [
            "", "/a", "a/", "a//b", "..", "a/../b", "a\0", ".a", "a/.b/c", "a.part", "a.tmp/b", "a/b/c/d", long,
        ] {
            #expect(partRefusal(path) == .nameRefused, "\(path)")
        }
    }
}
