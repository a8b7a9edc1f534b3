import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// Jobs that are taken over from where the work folder was.
@Suite("Moved work folder") struct MovedWorkTests {
    private let harness: SpoolHarness
    private let id = JobIDGenerator().next()
    private var work: WorkFolder { harness.spool.work }

    init() throws { harness = try SpoolHarness() }

    private func takeOver(from place: FilePath, isStale: Bool = false) -> MovedWork.Outcome {
        MovedWork(to: work, of: "test").takeOver(from: place, isStale: isStale)
    }

    /// A job in an earlier work folder, or in this one.
    private func leave(_ content: String, in place: FilePath) throws {
        try Folder.make(place.appending("active"), mode: 0o700)
        try harness.scratch.write(
            Array(content.utf8), to: place.appending("active").appending(id.text).appending("drop"))
    }

    private func drop(below place: FilePath) throws -> String {
        String(decoding: try ScratchFolder.read(place.appending(id.text).appending("drop")), as: UTF8.self)
    }

    @Test(
        "What another host has at work is left to it, until nothing was heard of it for long",
        .enabled(if: MirrorMount.isPossible, Comment(rawValue: MirrorMount.skip)))
    func foreign() throws {
        let scratch = harness.scratch
        try leave("content", in: scratch.path("behind"))
        let mirror = try MirrorMount(of: scratch.path("behind"), at: try scratch.makeFolder("mirror"))
        let holder = WorkOwner.Holder(host: "two", machine: "m", boot: "b", process: 7, incarnation: 1)
        let owner = try WorkOwner(of: mirror.path, of: "test", isShared: true, as: holder)
        guard case .left(let reason) = takeOver(from: mirror.path) else {
            Issue.record("it was taken")
            return
        }
        #expect(reason.contains("the host 'two'"))
        #expect(Folder.kind(of: scratch.path("behind/active").appending(id.text)) == .folder)
        #expect(try WorkOwner.read(mirror.path)?.holder == holder)
        owner.release()
        guard case .taken(1, aside: []) = takeOver(from: mirror.path) else {
            Issue.record("it was left")
            return
        }
        #expect(try scratch.tree("behind") == [])
        #expect(try drop(below: work.active) == "content")
    }

    @Test(
        "Of a job that is in both places in two states the one that was worked on last goes on, the other is kept",
        arguments: [false, true], [false, true])
    func twoStates(isStale: Bool, acrossMounts: Bool) throws {
        if acrossMounts, !TemporaryMount.isPossible { return }
        let place = try harness.scratch.makeFolder("elsewhere")
        let disk = acrossMounts ? try TemporaryMount(tmpfs: "size=1m", at: place) : nil
        defer { withExtendedLifetime(disk) {} }
        try leave("there", in: place)
        try leave("here", in: work.path)
        guard case .taken(1, let aside) = takeOver(from: place, isStale: isStale) else {
            Issue.record("it was left")
            return
        }
        let astray = (isStale ? place : work.path).appending("astray")
        #expect(aside == [astray.appending(id.text)])
        #expect(try drop(below: work.active) == (isStale ? "here" : "there"))
        #expect(try drop(below: astray) == (isStale ? "there" : "here"))
        #expect(Folder.kind(of: place.appending("active")) == nil)
    }

    @Test("A job that was settled but for the journal is over, though its work folder went and is elsewhere now")
    func settledElsewhere() async throws {
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [.passing])
        let (scratch, pipeline) = (engine.scratch, engine.pipeline)
        try Folder.make(pipeline.inbox)
        let place = WorkPlace(path: scratch.path("former/test"), beside: pipeline.inbox)
        let id = JobIDGenerator().next()
        let drop = Drop(name: try "a".fileName, size: 1, droppedAt: id.time)
        let folder = place.path.appending("active").appending(id.text)
        let job = Job(id: id, pipeline: pipeline.name, drop: drop, claimedAt: id.time, folder: folder)
        try Folder.make(scratch.path("state"), mode: 0o700)
        try scratch.write([1], to: scratch.path("processed/a"))
        let target = scratch.path("processed/a")
        let identity = try #require(FileIdentity.of(target))
        var record = JobRecord(claimed: job, identity: identity, definition: pipeline.definition)
        (record.state, record.stage) = (.settling, 1)
        record.intents = [Intent(role: .original, source: job.original, target: target, identity: identity)]
        let journal = try SQLiteJournal.open(writing: scratch.path("state"), durable: false)
        try journal.write([record], pipelines: [try #require(pipeline.record(works: [place], after: nil))])
        journal.close()
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        let after = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { after.close() }
        #expect(try after.jobs(JobQuery()).map(\.state) == [.processed])
    }

    @Test("A copy that a start which was broken off left is compared, and does", arguments: [false, true])
    func copied(isStale: Bool) throws {
        let place = harness.scratch.path("elsewhere")
        try leave("content", in: place)
        try leave("content", in: work.path)
        guard case .taken(1, aside: []) = takeOver(from: place, isStale: isStale) else {
            Issue.record("it was left")
            return
        }
        #expect(try drop(below: work.active) == "content")
        #expect(try harness.scratch.tree("elsewhere") == [])
    }
}
