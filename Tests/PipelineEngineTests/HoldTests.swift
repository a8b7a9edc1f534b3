import Files
import Journal
import PipelineKit
import SQLiteJournal
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import PipelineEngine

/// A person pauses and drains pipelines, and lifts that.
@Suite("Holds", .timeLimit(.minutes(5))) struct HoldTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func order(_ kind: HoldRecord.Kind?, for time: Duration? = nil) throws -> HoldOrder {
        try HoldOrder(kind, by: "anna", user: 1000, reason: kind == nil ? "" : "RIP is down", for: time)
    }

    /// What the journal says.
    private func recorded() throws -> [HoldRecord] {
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        return try journal.holds()
    }

    private func isHeld(_ harness: EngineHarness, _ name: String) async -> Bool {
        await eventually {
            guard case .held(let text)? = await harness.waiting(for: name)?.waiting else { return false }
            return text.hasPrefix("paused by anna ") && text.hasSuffix(" ago: RIP is down")
        }
    }

    @Test("Paused: what runs ends, nothing is claimed and no stage begins")
    func paused() async throws {
        let gate = Gate()
        let harness = try EngineHarness(scratch: scratch, stages: [gate.entry, .passing])
        try harness.start()
        try harness.drop("a")
        #expect(await eventually { harness.stageStarts == 1 })
        #expect(try harness.hold(["test"], order(.pause)).held == recorded())
        try harness.drop("b")
        gate.open()
        #expect(await isHeld(harness, "b"))
        #expect(await eventually { harness.stageEnds == 1 })
        #expect(harness.stageStarts == 1 && harness.reports.isEmpty)
        #expect(try harness.hold([], order(nil)).lifted.count == 1)
        #expect(await eventually { harness.reports.count == 2 })
        #expect(try recorded() == [])
        #expect(await harness.stop()?.processed == 2)
    }

    @Test("Drained: what is claimed goes to its end")
    func drained() async throws {
        let gate = Gate()
        let harness = try EngineHarness(scratch: scratch, stages: [gate.entry, .passing])
        try harness.start()
        try harness.drop("a")
        #expect(await eventually { harness.stageStarts == 1 })
        try harness.hold([], order(.drain))
        try harness.drop("b")
        gate.open()
        #expect(await eventually { harness.reports.count == 1 })
        #expect(harness.claimed.count == 1)
        try harness.hold(["test"], order(nil))
        #expect(await eventually { harness.reports.count == 2 })
        #expect(await harness.stop()?.processed == 2)
    }

    @Test("It outlives restarts and reloads, also of a pipeline that is removed and added again")
    func outlives() async throws {
        let harness = try EngineHarness(scratch: scratch, stages: [.passing])
        try harness.start()
        try harness.hold(["test"], order(.pause))
        _ = await harness.stop()
        try harness.drop("a")
        try harness.start()
        #expect(await isHeld(harness, "a"))
        var changed = harness.pipeline
        changed.declaration.keys = ["match": "other"]
        _ = try harness.reload([changed])
        #expect(harness.generations == ["test": 2])
        #expect(await isHeld(harness, "a"))
        _ = try harness.reload([])
        #expect(throws: EngineError.self) { try harness.hold(["tset"], order(nil)) }
        _ = try harness.reload([changed])
        #expect(await isHeld(harness, "a"))
        #expect(harness.claimed.isEmpty)
        try harness.hold([], order(nil))
        #expect(await eventually { harness.reports.count == 1 })
        #expect(await harness.stop()?.processed == 1)
    }

    @Test("It ends by itself, also while no daemon runs")
    func ends() async throws {
        let harness = try EngineHarness(scratch: scratch, stages: [.passing])
        let now = Mutex(Timestamp.now())
        let clock: @Sendable () -> Timestamp = { now.withLock { $0 } }
        let advance = { (time: Duration) in
            now.withLock { $0 = Timestamp(nanoseconds: $0.nanoseconds + time.nanoseconds) }
        }
        try harness.start(now: clock)
        try harness.hold([], order(.pause, for: .seconds(7200)))
        try harness.drop("a")
        #expect(await eventually { await harness.waiting(for: "a")?.waiting.code == "held" })
        advance(.seconds(7200))
        #expect(await eventually { harness.reports.count == 1 })
        #expect(try await eventually { try recorded() == [] })
        try harness.hold([], order(.pause, for: .seconds(60)))
        _ = await harness.stop()
        advance(.seconds(60))
        try harness.drop("b")
        try harness.start(now: clock)
        #expect(await eventually { harness.reports.count == 2 })
        #expect(await harness.stop()?.processed == 1)
    }

    @Test("Trouble neither lifts it nor is lifted by it")
    func trouble() async throws {
        let isBroken = Mutex(true)
        let stage = StageEntry.fake { (payload, _) throws(Failure) in
            guard isBroken.withLock({ $0 }) else { return payload }
            throw Failure(.environment, code: "io.write", summary: "Full.", remedy: "")
        }
        let harness = try EngineHarness(scratch: scratch, stages: [stage])
        try harness.start()
        try harness.drop("a")
        #expect(await eventually { harness.events.contains { if case .paused = $0 { true } else { false } } })
        try harness.hold([], order(.pause))
        isBroken.withLock { $0 = false }
        #expect(
            await eventually { harness.events.contains { if case .resumed = $0 { true } else { false } } },
            "the intake finds that the trouble is over")
        #expect(harness.reports.isEmpty)
        try harness.hold([], order(nil))
        #expect(await eventually { harness.reports.count == 1 })
        #expect(await harness.stop()?.processed == 1)
    }

    @Test("A run of what is there says what is held, and ends", arguments: [HoldRecord.Kind.pause, .drain])
    func once(kind: HoldRecord.Kind) async throws {
        let harness = try EngineHarness(scratch: scratch, stages: [.passing])
        try harness.start()
        try harness.hold([], order(kind))
        _ = await harness.stop()
        try harness.drop("a")
        try harness.start(once: true)
        #expect(await eventually { harness.summary != nil })
        let summary = try #require(harness.summary)
        #expect(summary.processed == 0)
        #expect(summary.held["test"]?.hasSuffix(" ago: RIP is down") == true)
    }
}

extension EngineHarness {
    fileprivate var stageStarts: Int { events.count { if case .stageStarted = $0 { true } else { false } } }
    fileprivate var stageEnds: Int { events.count { if case .stageFinished = $0 { true } else { false } } }
}
