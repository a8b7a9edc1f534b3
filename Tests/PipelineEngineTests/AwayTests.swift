@preconcurrency import Dispatch
import Files
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Work folders that are away for a while, as where a file system is mounted anew: their jobs wait for them.
@Suite("Work folders that are away", .timeLimit(.minutes(5))) struct AwayTests {
    @Test("While the work folder is away nothing fails for want of it")
    func awayAtWork() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [gate.entry])
        try engine.start()
        for name in ["a", "b"] { try engine.drop(name) }
        #expect(await eventually { engine.claimed.count == 2 })
        // The inbox is another one now, as where a file system lies over both, so that no work folder is made again.
        let (inbox, work) = (engine.scratch.path("inbox"), engine.scratch.path(".dropmill"))
        try NoReplace.rename(inbox, to: engine.scratch.path("former"))
        try NoReplace.rename(work, to: engine.scratch.path("away"))
        try Folder.make(inbox)
        gate.open()
        let paused = await eventually { engine.events.contains { if case .paused = $0 { true } else { false } } }
        #expect(paused)
        try Folder.remove(inbox)
        try NoReplace.rename(engine.scratch.path("away"), to: work)
        try NoReplace.rename(engine.scratch.path("former"), to: inbox)
        #expect(await eventually { engine.reports.count == 2 }, "\(engine.warnings)")
        _ = await engine.stop()
        #expect(try engine.scratch.jobStates() == [.processed: 2])
    }

    @Test(
        "A stage that ran while the work folder was away, and fails once it is back, runs again",
        arguments: ["seen by a job", "seen by the intake"])
    func failedLate(_ witness: String) async throws {
        let (gate, late) = (Gate(), Gate())
        let failures = Mutex(0)
        let entry = StageEntry.fake(workers: 2) { (payload, context) throws(Failure) in
            guard context.job.drop.name.text == "late" else { return try gate.entry.stage.run(payload, in: context) }
            let isFirst = failures.withLock { count in
                count += 1
                return count == 1
            }
            guard isFirst else { return payload }
            _ = try late.entry.stage.run(payload, in: context)
            // As a program may that finds nothing, which is taken for the drop's fault.
            throw Failure.file("test.missing", "It is gone.")
        }
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [entry])
        try engine.start()
        for name in ["early", "late"] { try engine.drop(name) }
        #expect(await eventually { engine.claimed.count == 2 && failures.withLock(\.self) == 1 })
        let (inbox, work) = (engine.scratch.path("inbox"), engine.scratch.path(".dropmill"))
        try NoReplace.rename(inbox, to: engine.scratch.path("former"))
        try NoReplace.rename(work, to: engine.scratch.path("away"))
        try Folder.make(inbox)
        if witness == "seen by a job" { gate.open() }
        #expect(await eventually { engine.events.contains { if case .paused = $0 { true } else { false } } })
        try Folder.remove(inbox)
        try NoReplace.rename(engine.scratch.path("away"), to: work)
        try NoReplace.rename(engine.scratch.path("former"), to: inbox)
        gate.open()
        late.open()
        #expect(await eventually { engine.reports.count == 2 }, "\(engine.warnings)")
        _ = await engine.stop()
        #expect(try engine.scratch.jobStates() == [.processed: 2])
    }

    @Test("A stage that fails while the inbox alone is gone runs again")
    func failedWithoutInbox() async throws {
        let gate = Gate()
        let failures = Mutex(0)
        let entry = StageEntry.fake { (payload, context) throws(Failure) in
            let isFirst = failures.withLock { count in
                count += 1
                return count == 1
            }
            let passed = try gate.entry.stage.run(payload, in: context)
            if isFirst { throw Failure.file("test.missing", "It is gone.") }
            return passed
        }
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [entry])
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.claimed.count == 1 && failures.withLock(\.self) == 1 })
        let inbox = engine.scratch.path("inbox")
        try NoReplace.rename(inbox, to: engine.scratch.path("former"))
        #expect(await eventually { engine.pauses == ["inbox.gone"] })
        gate.open()
        try NoReplace.rename(engine.scratch.path("former"), to: inbox)
        #expect(await eventually { engine.reports.count == 1 }, "\(engine.warnings)")
        _ = await engine.stop()
        #expect(try engine.scratch.jobStates() == [.processed: 1])
        #expect(engine.pauses == ["inbox.gone"] && failures.withLock(\.self) == 2)
    }

    @Test("What a node does not find after its lease is not called gone: others may have taken it")
    func afterTheLease() async throws {
        let (gate, store) = (Gate(), MemoryStore())
        let mayAct = Mutex(true)
        store.journal.contents.withLock { $0.mayAct = { mayAct.withLock(\.self) } }
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [gate.entry])
        try engine.start(journal: store)
        try engine.drop("a")
        #expect(await eventually { engine.started.count == 1 })
        mayAct.withLock { $0 = false }
        let (inbox, work) = (engine.scratch.path("inbox"), engine.scratch.path(".dropmill"))
        try NoReplace.rename(inbox, to: engine.scratch.path("former"))
        try NoReplace.rename(work, to: engine.scratch.path("away"))
        try Folder.make(inbox)
        gate.open()
        #expect(await eventually { !engine.pauses.isEmpty })
        try Folder.remove(inbox)
        try NoReplace.rename(engine.scratch.path("away"), to: work)
        try NoReplace.rename(engine.scratch.path("former"), to: inbox)
        mayAct.withLock { $0 = true }
        #expect(await eventually { engine.reports.count == 1 }, "\(engine.warnings)")
        #expect(engine.pauses == ["journal.away"])
        _ = await engine.stop()
    }

    @Test("What may not answer is asked on the pipeline's own queue, and holds up no other")
    func unanswered() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [gate.entry])
        try engine.start()
        for (count, name) in ["a", "b"].enumerated() {
            try engine.drop(name)
            #expect(await eventually { engine.claimed.count == count + 1 })
        }
        let folder = try #require(engine.claimed.first?.folder)
        let queue = try #require(engine.intakeQueue)
        do {
            queue.suspend()
            defer { queue.resume() }
            try NoReplace.rename(folder, to: engine.scratch.path("away"))
            gate.open()
            #expect(await eventually { engine.reports.map(\.job.drop.name.text) == ["b"] })
            try NoReplace.rename(engine.scratch.path("away"), to: folder)
        }
        #expect(await eventually { engine.reports.count == 2 }, "\(engine.warnings)")
        #expect(!engine.warnings.contains { $0.contains("is lost") })
        _ = await engine.stop()
    }
}

extension EngineHarness {
    /// The codes of what it was paused for, in order.
    fileprivate var pauses: [String] {
        events.compactMap { if case .paused(_, let failure) = $0 { failure.code } else { nil } }
    }
}
