import Files
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
        reserved.note(pipeline, of: pipeline.name)
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

    /// What a folder that a job made fails with where it is to be published as this.
    private func failure(
        publishing path: String, _ adjust: (inout Pipeline, ScratchFolder) throws -> Void
    ) throws -> (Failure?, SpoolHarness) {
        let harness = try SpoolHarness { (pipeline, scratch) in
            pipeline.onConflict = .replace
            try adjust(&pipeline, scratch)
        }
        let job = try harness.job(["drop": "x", ".1-fake/made/file": "x"])
        var payload = Payload(folder: job.folder.pushing(".1-fake/made"))
        payload.destination = harness.scratch.path(path)
        guard case .failed(let failure) = harness.settle(harness.settlement(of: job, payload)).result else {
            return (nil, harness)
        }
        return (failure, harness)
    }

    @Test("Nothing replaces one, or a folder that holds one", arguments: ["out/done", "out"])
    func replaced(path: String) throws {
        let (failure, harness) = try failure(publishing: path) { (pipeline, scratch) in
            try scratch.write("kept", to: "out/done/kept")
            pipeline.processed = .folder(scratch.path("out/done"))
        }
        #expect(failure?.code == "publish.reserved")
        #expect(try harness.scratch.text("out/done/kept") == "kept")
        #expect(try self.failure(publishing: "out/other") { (_, _) in }.0 == nil)
    }

    @Test("Nor is a folder made in one that is not there yet")
    func notThereYet() throws {
        let (failure, harness) = try failure(publishing: "failed/sub/deep/made") { (_, _) in }
        #expect(failure?.code == "publish.reserved")
        #expect(try harness.scratch.tree("failed") == [])
    }

    @Test("Originals go into none either; one that failed finds a place all the same")
    func originals() throws {
        let harness = try SpoolHarness { (pipeline, scratch) in
            pipeline.stages = [.passing]
            pipeline.processed = .folder(scratch.path("base"))
            pipeline.failed = scratch.path("base/drop")
        }
        for folder in ["base", "base/drop"] { try harness.scratch.makeFolder(folder) }
        harness.spool.noteReserved()
        var job = try harness.job()
        job = Job(
            id: job.id, pipeline: job.pipeline,
            drop: Drop(name: job.drop.name, folders: [job.drop.name], size: 1, droppedAt: job.claimedAt),
            claimedAt: job.claimedAt, folder: job.folder)
        guard case .failed(let failure) = harness.settle(harness.settlement(of: job)).result else {
            Issue.record("it went into 'failed'")
            return
        }
        #expect(failure.code == "publish.reserved")
        guard case .settled = harness.settle(harness.settlement(of: job, nil, .failed(failure))).result else {
            Issue.record("it found no place")
            return
        }
        #expect(try harness.scratch.text("base/drop/drop/drop") == "content")
    }
}
