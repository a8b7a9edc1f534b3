import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Nothing is published where only the engine, or a sender, puts things.
@Suite("Reserved folders") struct ReservedFoldersTests {
    private let scratch: ScratchFolder
    private let pipeline: Pipeline

    init() throws {
        scratch = try ScratchFolder()
        for folder in ["inbox", "done", "bad", "state", "out"] { try Folder.make(scratch.path(folder)) }
        pipeline = Pipeline(
            name: "scans", source: scratch.path("scans.yaml"), inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("done")), failed: scratch.path("bad"))
    }

    private func reserved(_ folder: FilePath) throws -> String? {
        let reserved = ReservedFolders(of: [pipeline], state: scratch.path("state"))
        return reserved.reserved(try #require(FileIdentity.of(folder)))?.what
    }

    private func leadsInto(_ folder: FilePath, own: FilePath? = nil) throws -> String? {
        let reserved = ReservedFolders(of: [pipeline], state: scratch.path("state"))
        return try reserved.reserved(
            holding: try OpenFile.open(folder, O_RDONLY | O_DIRECTORY), own: own ?? scratch.path("elsewhere"))?.what
    }

    @Test("A folder is known by what it is") func identity() throws {
        #expect(try reserved(scratch.path("inbox")) == "the inbox of 'scans'")
        #expect(try reserved(scratch.path("done")) == "the folder 'processed' of 'scans'")
        #expect(try reserved(scratch.path("bad")) == "the folder 'failed' of 'scans'")
        #expect(try reserved(scratch.path("state")) == "the state folder")
        #expect(try reserved(scratch.path("out")) == nil)
        let work = try WorkFolder(for: pipeline)
        #expect(try reserved(work.path) == "the work folder of 'scans'")
    }

    @Test("So is one that the fixed part of a target lies in, but for inboxes of others: those are chains")
    func ancestors() throws {
        for folder in ["bad/sub/deep", "inbox/sub", "out/sub"] { try scratch.makeFolder(folder) }
        #expect(try leadsInto(scratch.path("bad/sub/deep")) == "the folder 'failed' of 'scans'")
        #expect(try leadsInto(scratch.path("inbox/sub")) == nil)
        #expect(try leadsInto(scratch.path("inbox/sub"), own: scratch.path("inbox")) == "the inbox of 'scans'")
        #expect(try leadsInto(scratch.path("out/sub")) == nil)
    }

    @Test("A folder that was made anew is known once its pipeline looked")
    func madeAnew() throws {
        let reserved = ReservedFolders(of: [pipeline], state: nil)
        let old = try #require(FileIdentity.of(scratch.path("inbox")))
        try NoReplace.rename(scratch.path("inbox"), to: scratch.path("former"))
        try Folder.make(scratch.path("inbox"))
        let new = try #require(FileIdentity.of(scratch.path("inbox")))
        #expect(reserved.reserved(new) == nil)
        reserved.note(pipeline)
        #expect(reserved.reserved(new)?.what == "the inbox of 'scans'")
        #expect(reserved.reserved(old) == nil)
    }

    @Test("Where originals end another pipeline may begin: that is a chain")
    func chain() throws {
        var next = pipeline
        (next.name, next.inbox) = ("next", scratch.path("done"))
        (next.processed, next.failed) = (.folder(scratch.path("out")), scratch.path("out"))
        let reserved = ReservedFolders(of: [pipeline, next], state: nil)
        let folder = try OpenFile.open(scratch.path("done"), O_RDONLY | O_DIRECTORY)
        #expect(try reserved.reserved(holding: folder, own: pipeline.inbox) == nil)
        #expect(try reserved.reserved(holding: folder, own: next.inbox) != nil)
    }

    @Test("A link to one is no way around") func links() throws {
        try scratch.link("alias", to: "bad")
        #expect(try leadsInto(scratch.path("alias")) == "the folder 'failed' of 'scans'")
    }
}
