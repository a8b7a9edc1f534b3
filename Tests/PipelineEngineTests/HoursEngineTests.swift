import Files
import Journal
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import PipelineEngine

/// A pipeline that works within its hours alone.
@Suite("Hours of a pipeline", .timeLimit(.minutes(5))) struct HoursEngineTests {
    private let scratch: ScratchFolder
    /// A Monday, at noon, and in the evening.
    private let noon = Timestamp(nanoseconds: 1_767_614_400_000_000_000)
    private let evening = Timestamp(nanoseconds: 1_767_614_400_000_000_000 + 9 * 3_600_000_000_000)

    init() throws { scratch = try ScratchFolder() }

    private func engine(_ stages: [StageEntry], outside: HoursRule.Outside = .pause) throws -> EngineHarness {
        let hours = try Hours(["Mon-Fri 20:00-06:00", "Sat,Sun"], zone: .utc)
        return try EngineHarness(scratch: scratch, stages: stages) { $0.hours = HoursRule(hours, outside: outside) }
    }

    @Test("Outside nothing is claimed, and that is said; within, what waited goes on; the clock may be set back")
    func claims() async throws {
        let now = Mutex(noon)
        let engine = try engine([.passing])
        try engine.start(now: { now.withLock { $0 } })
        try engine.drop("a")
        let text = "outside its hours until Mon 20:00"
        // The sentence is of the time at which it is asked for, which the test does not set.
        #expect(await eventually { await engine.waiting(for: "a")?.waiting.code == "outside-hours" })
        #expect(await engine.waitingReport().outside["test"]?.text(at: noon) == text)
        #expect(engine.events.contains { if case .started = $0 { true } else { false } })
        now.withLock { $0 = evening }
        #expect(await eventually { engine.reports.count == 1 })
        #expect(engine.events.contains { if case .opened("test") = $0 { true } else { false } })
        now.withLock { $0 = noon }
        #expect(await eventually { await engine.waitingReport().outside["test"] != nil })
        #expect(engine.events.contains { if case .closed("test", text) = $0 { true } else { false } })
        try engine.drop("b")
        #expect(await eventually { await engine.waiting(for: "b")?.waiting.code == "outside-hours" })
        #expect(engine.claimed.count == 1)
        _ = await engine.stop()
    }

    @Test(
        "What runs goes on when the hours end, and the next stage waits, unless jobs may go on to their end",
        arguments: HoursRule.Outside.allCases)
    func stages(outside: HoursRule.Outside) async throws {
        let now = Mutex(evening)
        let gate = Gate()
        let engine = try engine([gate.entry, .passing], outside: outside)
        try engine.start(now: { now.withLock { $0 } })
        try engine.drop("a")
        #expect(await eventually { engine.started.count == 1 })
        now.withLock { $0 = noon }
        #expect(await eventually { await engine.waitingReport().outside["test"] != nil })
        gate.open()
        if outside == .drain {
            #expect(await eventually { engine.reports.count == 1 })
        } else {
            #expect(
                await eventually { engine.events.contains { if case .stageFinished = $0 { true } else { false } } })
            now.withLock { $0 = evening }
            #expect(await eventually { engine.reports.count == 1 })
            let order = engine.events.compactMap { event -> String? in
                switch event {
                case .opened: "opened"
                case .settled: "settled"
                default: nil
                }
            }
            #expect(order.suffix(2) == ["opened", "settled"])
        }
        _ = await engine.stop()
    }

    @Test("A run that ends by itself does not wait for hours")
    func once() async throws {
        let hours = try Hours(["Mon 20:00-21:00"], zone: .utc)
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) {
            $0.hours = HoursRule(hours)
            // With which nothing else is to be waited for.
            $0.limit = LimitRule(jobs: .init(1, per: .seconds(1), text: "1/s"))
        }
        try engine.drop("a")
        try engine.start(once: true, now: { noon })
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.held == ["test": "outside its hours until Mon 20:00"])
        #expect(scratch.exists("inbox/a") && engine.claimed.isEmpty)
    }

    @Test("A person's pause stays when hours begin, and hours stay closed when that is lifted")
    func people() async throws {
        let now = Mutex(noon)
        let engine = try engine([.passing])
        try engine.start(now: { now.withLock { $0 } })
        try engine.hold([], HoldOrder(.pause, by: "anna", user: 1000))
        try engine.drop("a")
        now.withLock { $0 = evening }
        #expect(await eventually { await engine.waitingReport().outside.isEmpty })
        #expect(await eventually { await engine.waiting(for: "a")?.waiting.code == "held" })
        now.withLock { $0 = noon }
        #expect(await eventually { !(await engine.waitingReport().outside.isEmpty) })
        try engine.hold([], HoldOrder(nil, by: "anna", user: 1000))
        #expect(await eventually { await engine.waiting(for: "a")?.waiting.code == "outside-hours" })
        #expect(engine.claimed.isEmpty)
        _ = await engine.stop()
    }
}
