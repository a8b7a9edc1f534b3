import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite("Calls that failed, but may have been made") struct MadeCallsTests {
    private let scratch: ScratchFolder
    /// A way that the kernel refuses to go: what is there cannot be told.
    private let dark: FilePath

    init() throws {
        scratch = try ScratchFolder()
        try scratch.link("loop", to: "loop")
        dark = scratch.path("loop/file")
    }

    @Test("What cannot be looked at is not taken for nothing")
    func look() throws {
        try scratch.write("1", to: "file")
        #expect(try Spot(scratch.path("file")).statusNow?.st_size == 1)
        #expect(try Spot(scratch.path("none")).statusNow == nil)
        #expect(try Spot(scratch.path("file/none")).statusNow == nil)
        #expect(throws: IOError("examine", dark, .tooManySymbolicLinkLevels)) { try Spot(dark).statusNow }
    }

    @Test("A rename whose source cannot be looked at is not taken for made")
    func rename() throws {
        let target = scratch.path("target")
        try scratch.write("1", to: target.lastEntry.string)
        let known = FileIdentity.of(target)
        #expect(throws: IOError.self) { try NoReplace.rename(Spot(dark), to: Spot(target), known: known) }
    }
}
