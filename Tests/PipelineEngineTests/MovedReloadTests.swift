import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// Reloads that give pipelines other inboxes and work folders.
@Suite("Reload of folders", .timeLimit(.minutes(5))) struct MovedReloadTests {
    private let scratch: ScratchFolder
    private let gate = Gate()

    init() throws { scratch = try ScratchFolder() }

    private func harness() throws -> EngineHarness { try EngineHarness(scratch: scratch, stages: [gate.entry]) }

    /// The same pipeline with other folders.
    private func moved(
        _ pipeline: Pipeline, inbox: String? = nil, work: String? = nil, stages: [StageEntry]? = nil
    ) -> Pipeline {
        var new = pipeline
        new.inbox = inbox.map { scratch.path($0) } ?? new.inbox
        new.work = work.map { scratch.path($0) } ?? new.work
        new.declaration.keys = ["inbox": new.inbox.text, "work": new.work?.text ?? ""]
        if let stages {
            new.stages = stages
            new.declaration.stages = ["\(stages.count)"]
        }
        return new
    }

    private func drop(_ name: String, into folder: String) throws {
        try scratch.write("x", to: "drops/\(name)")
        try NoReplace.rename(scratch.path("drops/\(name)"), to: scratch.path("\(folder)/\(name)"))
    }

    /// The places of a pipeline's work folders on record; nothing where that cannot be read.
    private func works(of name: String = "test") -> [FilePath] {
        do {
            let journal = try SQLiteJournal.open(reading: scratch.path("state"))
            defer { journal.close() }
            return try journal.pipelines().first { $0.name == name }?.works.map(\.path) ?? []
        } catch {
            return []
        }
    }

    @Test("Another inbox beside the same work folder is watched, and the old one no more")
    func inbox() async throws {
        let harness = try harness()
        try harness.start()
        try harness.drop("a")
        #expect(await eventually { harness.started.count == 1 })
        let changes = try harness.reload([moved(harness.pipeline, inbox: "other")])
        #expect(changes.map(\.text) == ["changed (inbox, work)"])
        #expect(harness.tails == 0, "it goes on in the same folder")
        try drop("b", into: "other")
        try drop("late", into: "inbox")
        gate.open()
        #expect(await eventually { harness.reports.count == 2 })
        #expect(await eventually { harness.retired == 0 })
        #expect(harness.warnings == [])
        let lock = try FolderLock(harness.pipeline.inbox, describedAs: "the inbox")
        lock.release()
        #expect(try scratch.tree("inbox") == ["late"])
        #expect(await harness.stop()?.processed == 2)
    }

    @Test("What is unfinished in the last work folder goes on there", arguments: [false, true])
    func work(hasOwnInbox: Bool) async throws {
        let harness = try harness()
        try harness.start()
        for name in ["a", "b"] { try harness.drop(name) }
        #expect(await eventually { harness.claimed.count == 2 && harness.started.count == 1 })
        let old = scratch.path(".dropmill/test")
        let new = moved(
            harness.pipeline, inbox: hasOwnInbox ? "there/inbox" : nil, work: hasOwnInbox ? nil : "work",
            stages: [gate.entry, .passing])
        _ = try harness.reload([new])
        #expect(harness.tails == 1)
        let inbox = hasOwnInbox ? "there/inbox" : "inbox"
        try drop("c", into: inbox)
        #expect(await eventually { harness.claimed.count == 3 })
        let place = scratch.path(hasOwnInbox ? "there/.dropmill/test" : "work")
        #expect(await eventually { works() == [place, old] })
        // Once more, while something is there.
        #expect(try harness.reload([moved(new, stages: [gate.entry])]).map(\.text) == ["changed (stage 1)"])
        gate.open()
        #expect(await eventually { harness.reports.count == 3 })
        #expect(await eventually { harness.tails == 0 && harness.retired == 0 })
        #expect(await eventually { works() == [place] })
        try FolderLock(old, describedAs: "the work folder").release()
        try drop("d", into: inbox)
        #expect(await eventually { harness.reports.count == 4 })
        #expect(harness.warnings == [])
        #expect(await harness.stop()?.processed == 4)
        #expect(try scratch.tree("processed") == ["a", "b", "c", "d"])
        #expect(try scratch.jobStates() == [.processed: 4])
    }

    @Test("There and back, all goes on in one work folder again")
    func back() async throws {
        let harness = try harness()
        try harness.start()
        try harness.drop("a")
        #expect(await eventually { harness.started.count == 1 })
        let there = moved(harness.pipeline, work: "work")
        _ = try harness.reload([there])
        try harness.drop("b")
        #expect(await eventually { harness.claimed.count == 2 })
        _ = try harness.reload([moved(harness.pipeline, stages: [gate.entry])])
        #expect(harness.tails == 1)
        try harness.drop("c")
        #expect(await eventually { harness.claimed.count == 3 })
        gate.open()
        #expect(await eventually { harness.reports.count == 3 })
        #expect(await eventually { harness.tails == 0 && harness.retired == 0 })
        #expect(await harness.stop()?.processed == 3)
        #expect(works() == [scratch.path(".dropmill/test")])
    }

    @Test("A start goes on with what was unfinished in both work folders")
    func restarted() async throws {
        let harness = try harness()
        try harness.start()
        try harness.drop("a")
        #expect(await eventually { harness.started.count == 1 })
        let new = moved(harness.pipeline, work: "work")
        _ = try harness.reload([new])
        try harness.drop("b")
        #expect(await eventually { harness.claimed.count == 2 })
        #expect(await harness.stop(grace: .zero)?.unfinished == 2)
        let next = try EngineHarness(scratch: scratch, stages: [.passing]) { $0.work = new.work }
        try next.start(once: true)
        #expect(await eventually { next.summary != nil })
        #expect(next.summary?.processed == 2)
        #expect(next.warnings.contains { $0.contains("1 job was taken over from there") })
    }

    @Test("Removed with what is left in two work folders, and back with all of it", arguments: [false, true])
    func removed(isClosed: Bool) async throws {
        let harness = try harness()
        try harness.start()
        for name in ["a", "b"] { try harness.drop(name) }
        #expect(await eventually { harness.claimed.count == 2 && harness.started.count == 1 })
        let new = moved(harness.pipeline, work: "work", stages: [gate.entry, .passing])
        _ = try harness.reload([new])
        try harness.drop("c")
        #expect(await eventually { harness.claimed.count == 3 })
        #expect(try harness.reload([]).map(\.text) == ["removed (3 unfinished)"])
        if isClosed {
            gate.open()
            #expect(await eventually { harness.retired == 0 })
            #expect(harness.warnings.contains { $0.contains("belong to the pipeline 'test', which is not loaded") })
        }
        _ = try harness.reload([new])
        gate.open()
        #expect(await eventually { harness.reports.count == 3 })
        #expect(await eventually { harness.tails == 0 && harness.retired == 0 })
        #expect(await harness.stop()?.processed == 3)
        #expect(try scratch.jobStates() == [.processed: 3])
    }

    @Test("Two pipelines can exchange their inboxes, and not their work folders")
    func exchanged() async throws {
        let harness = try harness()
        var beside = moved(harness.pipeline, inbox: "beside")
        beside.name = "beside"
        beside.stages = [.passing]
        try harness.start()
        _ = try harness.reload([harness.pipeline, beside])
        try harness.drop("a")
        #expect(await eventually { harness.started.count == 1 })
        _ = try harness.reload([moved(harness.pipeline, inbox: "beside"), moved(beside, inbox: "inbox")])
        try drop("b", into: "inbox")
        #expect(await eventually { harness.reports.map(\.job.pipeline) == ["beside"] })
        try drop("c", into: "beside")
        gate.open()
        #expect(await eventually { harness.reports.count == 3 })
        #expect(harness.reports.map(\.job.pipeline) == ["beside", "test", "test"])
        #expect(harness.warnings == [])
        let error = #expect(throws: EngineError.self) {
            try harness.reload([
                moved(harness.pipeline, work: ".dropmill/beside"), moved(beside, work: ".dropmill/test"),
            ])
        }
        #expect(error?.message.contains("is still that of the pipeline 'beside'; use another one") == true)
        #expect(await harness.stop()?.processed == 3)
    }

    @Test("A claimed drop that is still written in the last work folder is waited for")
    func lateWriter() async throws {
        let harness = try harness()
        gate.open()
        let id = JobIDGenerator().next()
        let work = try WorkFolder(for: harness.pipeline)
        let drop = work.folder(id).appending(try "a".fileName)
        try scratch.write(Array("x".utf8), to: drop)
        work.release()
        let writer = try OpenFile.open(drop, O_WRONLY | O_APPEND)
        try harness.start()
        #expect(await eventually { await harness.waiting().longest.contains { $0.isClaimed } })
        _ = try harness.reload([moved(harness.pipeline, inbox: "there/inbox")])
        // As one does that moves an inbox.
        try Folder.remove(scratch.path("inbox"))
        #expect(await eventually { harness.retired == 0 })
        #expect(harness.tails == 1)
        try writer.close()
        #expect(await eventually { harness.reports.map(\.job.id) == [id] })
        #expect(await eventually { harness.tails == 0 })
        #expect(await harness.stop()?.processed == 1)
    }
}
