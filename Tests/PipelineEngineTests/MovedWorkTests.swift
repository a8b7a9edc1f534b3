import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Jobs that are taken over from where the work folder was.
@Suite("Moved work folder") struct MovedWorkTests {
    private let harness: SpoolHarness
    private let id = JobIDGenerator().next()
    private var work: WorkFolder { harness.spool.work }

    init() throws { harness = try SpoolHarness() }

    private func take(from place: FilePath) -> MovedWork.Outcome {
        MovedWork(to: work, of: "test").take(from: place)
    }

    /// An earlier work folder with a job of these files.
    private func leave(_ files: [String: String], in place: FilePath) throws {
        try Folder.make(place.appending("active"), mode: 0o700)
        for (name, text) in files {
            let file = place.appending("active").appending(id.text).appending(try name.fileName)
            try harness.scratch.write(Array(text.utf8), to: file)
        }
    }

    @Test(
        "What another host has at work is left to it, until nothing was heard of it for long",
        .enabled(if: MirrorMount.isPossible, Comment(rawValue: MirrorMount.skip)))
    func foreign() throws {
        let scratch = harness.scratch
        try leave(["drop": "content"], in: scratch.path("behind"))
        let mirror = try MirrorMount(of: scratch.path("behind"), at: try scratch.makeFolder("mirror"))
        let holder = WorkOwner.Holder(host: "two", machine: "m", boot: "b", process: 7, incarnation: 1)
        let owner = try WorkOwner(of: mirror.path, of: "test", isShared: true, as: holder)
        guard case .left(let reason) = take(from: mirror.path) else {
            Issue.record("it was taken")
            return
        }
        #expect(reason.contains("the host 'two'"))
        #expect(Folder.kind(of: scratch.path("behind/active").appending(id.text)) == .folder)
        #expect(try WorkOwner.read(mirror.path)?.holder == holder)
        owner.release()
        guard case .taken(1) = take(from: mirror.path) else {
            Issue.record("it was left")
            return
        }
        #expect(try scratch.tree("behind") == [])
        #expect(try ScratchFolder.read(work.folder(of: id).appending("drop")) == Array("content".utf8))
    }
}
