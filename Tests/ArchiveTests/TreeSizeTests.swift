import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// Looks at a tree that somebody may be making just to be looked at.
@Suite struct TreeSizeTests {
    private let scratch: ScratchFolder
    private let never = Int64.max

    init() throws {
        scratch = try ScratchFolder()
        for index in 0..<300 {
            try scratch.write([UInt8](repeating: 1, count: 100), to: scratch.path("top/d/f\(index)"))
        }
        try scratch.link("top/l", to: "/etc")
    }

    private func look(_ limits: ExtractionLimits = ExtractionLimits(), until deadline: Int64) throws -> TreeSize {
        let root = try OpenFile.openFolder(scratch.path("top"))
        return TreeSize.look(at: root.descriptor, limits, until: deadline)
    }

    @Test func itCountsWhatIsThere() throws {
        #expect(try look(until: never) == TreeSize(entries: 302, bytes: 30_000, depth: 2))
    }

    /// A file of several names counts once, a hole not at all.
    @Test func itCountsWhatIsTaken() throws {
        let (old, new) = (scratch.path("top/d/f0").string, scratch.path("top/d/again").string)
        try #require(link(old, new) == 0)
        try scratch.write("", to: "top/hole")
        try #require(truncate(scratch.path("top/hole").string, 1 << 40) == 0)
        #expect(try look(until: never) == TreeSize(entries: 304, bytes: 30_000, depth: 2))
    }

    @Test func itEndsWhereThereIsTooMuch() throws {
        var limits = ExtractionLimits()
        limits.entries = 10
        #expect(try look(limits, until: never).entries == 11)
        limits = ExtractionLimits()
        limits.depth = 1
        let deep = try look(limits, until: never)
        #expect(deep.depth == 2 && deep.exceeds(limits))
    }

    @Test func itEndsWhenItsTimeIsOver() throws {
        #expect(try look(until: 0).entries < 64)
    }
}
