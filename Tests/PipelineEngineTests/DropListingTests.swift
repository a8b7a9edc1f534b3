import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Journal
@testable import PipelineEngine

/// What waits in an inbox, page by page.
@Suite("Listing of drops", .timeLimit(.minutes(5))) struct DropListingTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func texts(_ drops: [DropListing.Drop]) -> [String] { drops.map(\.path.text) }

    @Test("The first of many are those that a sort puts first, page by page", arguments: [0, 1, 3, 7, 50])
    func firstOfMany(limit: Int) {
        let all = (0..<40).map { $0 * 17 % 40 }
        var (found, after): ([Int], Int?) = ([], nil)
        while true {
            var page = FirstOfMany(limit, after: after)
            for element in all { page.add(element) }
            let (elements, hasMore) = page.page()
            #expect(elements.count == min(limit, 40 - found.count))
            #expect(hasMore == (found.count + elements.count < 40))
            found += elements
            guard let last = elements.last else { break }
            after = last
        }
        #expect(found == (limit == 0 ? [] : Array(0..<40)))
    }

    @Test("Names that are not taken are known until they are gone, and 1,000 of them at most")
    func untaken() throws {
        var names = UntakenNames()
        let (first, second) = (MonotonicTime(nanoseconds: 1), MonotonicTime(nanoseconds: 2))
        let (a, b) = (try "a".fileName, try "b".fileName)
        names.listed(.top, [a, b], at: first)
        names.saw(a, in: .top, at: second)
        names.listed(.top.appending(b), [a], at: second)
        #expect(names.names.count == 3 && names.names[DropPath(a)] == first)
        names.listed(.top, [b], at: second)
        names.lost(b, in: .top)
        #expect(names.names.keys.map(\.text) == ["b/a"])
        names.forget(.top.appending(b))
        #expect(names.names.isEmpty && !names.isCut)
        names.listed(.top, try (0...UntakenNames.most).map { try "n\($0)".fileName }, at: first)
        #expect(names.names.count == UntakenNames.most && names.isCut)
    }

    @Test("Drops are told by what keeps them, and what no pattern takes with the patterns")
    func listing() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { pipeline in
            pipeline.match.include = ["*.pdf", "*.tif"].compactMap { Glob($0) }
        }
        try engine.start()
        try engine.hold(["test"], try HoldOrder(.pause, by: "anna", user: 1, reason: "RIP", for: nil))
        for name in ["b.pdf", "a.pdf", "c.tif"] { try engine.drop(name) }
        for name in ["note.docx", "x.pdf.crdownload", ".hidden"] { try scratch.write("x", to: "inbox/\(name)") }
        func ask(_ change: (inout DropQuestion) -> Void = { _ in }) async throws -> DropListing {
            var question = DropQuestion(limit: 10)
            change(&question)
            return try await engine.listing(question)
        }
        #expect(try await eventually { try await ask().complete == 3 })
        try #require(try await eventually { try await ask().left.count == 2 })
        let all = try await ask()
        #expect(all.waiting == 3 && all.drops.isEmpty && all.reasons == ["held": 3] && all.counted == 3)
        #expect(all.completeBytes > 0 && all.oldestComplete?.code == "held" && all.leftCount == 2)
        #expect(texts(all.left) == ["note.docx", "x.pdf.crdownload"])
        #expect(all.left[0].text == "no pattern takes it: match.include has '*.pdf', '*.tif'")
        #expect(all.left[1].text.hasPrefix("never taken: its name marks it as an unfinished download"))
        var (found, after): ([DropPath], DropPlace?) = ([], nil)
        repeat {
            let page = try await ask { ($0.kind, $0.after, $0.limit) = (.held, after, 1) }
            #expect(page.drops.count == 1 && page.left.isEmpty)
            found += page.drops.map(\.path)
            after = page.more
        } while after != nil && found.count < 9
        #expect(Set(found.map(\.text)) == ["a.pdf", "b.pdf", "c.tif"] && found.count == 3)
        #expect(try await texts(ask { ($0.kind, $0.pattern) = (.complete, Glob("*.tif")) }.drops) == ["c.tif"])
        #expect(try await texts(ask { ($0.kind, $0.limit) = (.left, 1) }.left) == ["note.docx"])
        let note = DropPath(try "note.docx".fileName)
        let rest = try await ask { ($0.kind, $0.leftAfter) = (.left, .path(note)) }
        #expect(texts(rest.left) == ["x.pdf.crdownload"] && rest.leftMore == nil)
        try Folder.remove(scratch.path("inbox/note.docx"))
        #expect(try await eventually { try await ask().leftCount == 1 })
        _ = await engine.stop()
    }

    @Test("No page misses or repeats a drop that stays, whatever comes and goes between two of them")
    func pages() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.start()
        try engine.hold(["test"], try HoldOrder(.pause, by: "anna", user: 1, reason: "", for: nil))
        let stranger = try #require(FileName([0xFF, 0x0A, UInt8(ascii: "<"), 0xE2, 0x80, 0xAE]))
        try engine.drop(stranger, [1])
        for number in 0..<3000 { try engine.dropHere("n\(number)") }
        var question = DropQuestion(kind: .held, limit: 250)
        try #require(try await eventually { try await engine.listing(question).complete == 3001 })
        var (found, gone): ([DropPath], Set<String>) = ([], [])
        repeat {
            let page = try await engine.listing(question)
            #expect(page.drops.count <= 250 && page.drops.allSatisfy { $0.isComplete && $0.size != nil })
            found += page.drops.map(\.path)
            question.after = page.more
            guard page.more != nil else { break }
            let round = found.count / 250
            for number in stride(from: round, to: 3000, by: 300) where gone.insert("n\(number)").inserted {
                try Folder.remove(scratch.path("inbox/n\(number)"))
            }
            for number in 0..<20 { try engine.dropHere("later\(round).\(number)") }
        } while found.count < 6000
        #expect(Set(found).count == found.count && found.contains(DropPath(stranger)))
        let all = Set(found.map(\.text))
        let missing = (0..<3000).map { "n\($0)" }.filter { !gone.contains($0) && !all.contains($0) }
        #expect(missing.isEmpty && gone.count > 100)
        _ = await engine.stop()
    }
}
