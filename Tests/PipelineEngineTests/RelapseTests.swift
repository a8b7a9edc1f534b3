import Dispatch
import Files
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// A probe may do well where what failed before it fails again.
@Suite("Relapses", .timeLimit(.minutes(3))) struct RelapseTests {
    @Test("Trouble that comes back at once is as old as it was")
    func age() async throws {
        let turn = DispatchSemaphore(value: 0)
        let stage = StageEntry.fake { (payload, context) throws(Failure) in
            while turn.wait(timeout: .now() + .milliseconds(20)) != .success { try context.checkCancelled() }
            return payload
        }
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [stage])
        let scratch = engine.scratch
        try engine.start()
        try Folder.remove(scratch.path("processed"))
        try scratch.write("x", to: "processed")
        for name in ["a", "b", "c"] { try engine.drop(name) }
        let claimed = await eventually { engine.events.count { if case .claimed = $0 { true } else { false } } == 3 }
        #expect(claimed)
        func pauses() -> Int { engine.events.count { if case .paused = $0 { true } else { false } } }
        func record() throws -> PipelineRecord? {
            let journal = try SQLiteJournal.open(reading: scratch.path("state"))
            defer { journal.close() }
            return try journal.pipelines().first
        }
        // The first is settled, which fails; the second runs meanwhile, and the third is held with the first.
        turn.signal()
        #expect(try await eventually { try pauses() == 1 && record()?.paused != nil })
        let first = try #require(try record())
        // The third does well, so that all go on, and the first fails again.
        turn.signal()
        turn.signal()
        #expect(await eventually { pauses() == 2 })
        let isWritten = try await eventually {
            try record().map { $0.paused != nil && $0.updatedAt > first.updatedAt } ?? false
        }
        #expect(isWritten)
        #expect(try record()?.pausedSince == first.pausedSince)
        try Folder.remove(scratch.path("processed"))
        try Folder.make(scratch.path("processed"))
        #expect(await eventually { engine.reports.count == 3 })
        _ = await engine.stop()
    }

    @Test("Trouble that a reload does not end is as old as it was, and is tried no more often")
    func reload() async throws {
        let isBroken = Mutex(true)
        let stage = StageEntry.fake { (payload, _) throws(Failure) in
            guard isBroken.withLock({ $0 }) else { return payload }
            throw Failure(.environment, code: "io.write", summary: "Full.")
        }
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [stage])
        let scratch = engine.scratch
        func paused() throws -> PipelineRecord? {
            let journal = try SQLiteJournal.open(reading: scratch.path("state"))
            defer { journal.close() }
            return try journal.pipelines().first { $0.paused != nil }
        }
        func pauses() -> Int { engine.events.count { if case .paused = $0 { true } else { false } } }
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.pauseBeforeProbe >= .seconds(2) })
        #expect(try await eventually { try paused() != nil })
        let (first, before, reloaded) = (try paused(), pauses(), Timestamp.now())
        var changed = engine.pipeline
        changed.declaration.keys = ["order": "name"]
        _ = try engine.reload([changed])
        #expect(engine.generations == ["test": 2])
        #expect(await eventually { pauses() > before })
        #expect(engine.pauseBeforeProbe >= .seconds(4))
        #expect(try await eventually { try paused().map { $0.updatedAt > reloaded } ?? false })
        #expect(try paused()?.pausedSince == first?.pausedSince)
        isBroken.withLock { $0 = false }
        #expect(await eventually { engine.reports.count == 1 })
        _ = await engine.stop()
    }
}
