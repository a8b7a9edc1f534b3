import Glibc
import Journal
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import PipelineEngine

/// `jobs_at_once`: how many stages of all pipelines run at once.
@Suite("Slots for stages", .timeLimit(.minutes(5))) struct StageSlotsTests {
    @Test("Who has to wait gets its turn by weight, and no more run than may")
    func weights() {
        let slots = StageSlots(2)
        slots.weigh("a", 3)
        let begun = Mutex<[String]>([])
        for name in ["x", "x"] { slots.enter(name) {} }
        for _ in 0..<40 { for name in ["a", "b"] { slots.enter(name) { begun.withLock { $0.append(name) } } } }
        #expect(begun.withLock { $0 }.isEmpty)
        for _ in 0..<40 { slots.leave() }
        #expect(begun.withLock { $0.count } == 40 && begun.withLock { $0.count { $0 == "a" } } == 30)
        // Two run. One more may from now on.
        slots.set(3)
        #expect(begun.withLock { $0.count } == 41)
        slots.set(nil)
        #expect(begun.withLock { $0.count } == 80)
    }

    @Test("Who goes on with another job gives its slot to one whose turn it is")
    func renewing() {
        let slots = StageSlots(1)
        slots.enter("a") {}
        #expect(slots.renew("a") {})
        let begun = Mutex<[String]>([])
        slots.enter("b") { begun.withLock { $0.append("b") } }
        #expect(!slots.renew("a") { begun.withLock { $0.append("a") } })
        #expect(begun.withLock { $0 } == ["b"])
        slots.leave()
        #expect(begun.withLock { $0 } == ["b", "a"])
        #expect(slots.renew("a") {})
        // Fewer may run than do.
        let wide = StageSlots()
        for _ in 0..<3 { wide.enter("a") {} }
        wide.set(1)
        #expect(!wide.renew("a") {} && !wide.renew("a") {})
        wide.leave()
        #expect(wide.renew("a") {} == false)
    }

    /// How many stages run, and the most that did.
    private final class Counter: Sendable {
        private let state = Mutex((now: 0, most: 0, all: 0))
        var most: Int { state.withLock { $0.most } }
        var all: Int { state.withLock { $0.all } }
        func run() {
            state.withLock { state in
                state.now += 1
                state.all += 1
                state.most = max(state.most, state.now)
            }
            // Long enough that others would begin meanwhile.
            for _ in 0..<200 { sched_yield() }
            state.withLock { $0.now -= 1 }
        }
    }

    @Test("Whatever workers and lanes there are, no more stages of all pipelines run at once", arguments: [1, 2])
    func engine(most: Int) async throws {
        let counter = Counter()
        let scratch = try ScratchFolder()
        let slow = StageEntry.fake(workers: 4) { (payload, _) throws(Failure) in
            counter.run()
            return payload
        }
        let quick = StageEntry.quick(
            { (payload, _) throws(Failure) in
                counter.run()
                return payload
            },
            { (payload, _) in
                counter.run()
                return payload
            })
        let engine = try EngineHarness(scratch: scratch, stages: [quick])
        var other = engine.pipeline
        (other.name, other.inbox, other.failed) = ("other", scratch.path("other"), scratch.path("other-failed"))
        (other.processed, other.stages) = (.folder(scratch.path("other-done")), [slow, slow])
        try scratch.makeFolder("other")
        try engine.start(jobsAtOnce: most)
        _ = try engine.reload([engine.pipeline, other])
        for number in 0..<60 {
            try engine.drop("\(number)")
            try scratch.write("content", to: "other/\(number)")
        }
        #expect(await eventually { engine.reports.count == 120 })
        #expect(counter.most <= most && counter.all == 180)
        _ = await engine.stop()
    }

    @Test("What waits for its turn is not stalled, can be paused, and does not hold up the end")
    func waiting() async throws {
        let (gate, scratch) = (Gate(), try ScratchFolder())
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry])
        var other = engine.pipeline
        (other.name, other.inbox, other.failed) = ("other", scratch.path("other"), scratch.path("other-failed"))
        let quick = StageEntry.quick({ (payload, _) throws(Failure) in payload }, { (payload, _) in payload })
        (other.processed, other.stages) = (.folder(scratch.path("other-done")), [quick])
        try scratch.makeFolder("other")
        try engine.start(stall: .seconds(3), jobsAtOnce: 1)
        _ = try engine.reload([engine.pipeline, other])
        try engine.drop("a")
        #expect(await eventually { engine.started.count == 1 })
        try scratch.write("content", to: "other/b")
        #expect(await eventually { engine.claimed.count == 2 })
        // The one that runs is stalled in the end; by then the other one would be, too.
        let stalled = { engine.events.compactMap { if case .stalled(let name, _) = $0 { name } else { nil } } }
        #expect(await eventually { !stalled().isEmpty })
        try engine.hold(["other"], HoldOrder(.pause, by: "anna", user: 1000))
        try engine.hold(["other"], HoldOrder(nil, by: "anna", user: 1000))
        #expect(stalled() == ["test"])
        gate.open()
        #expect(await eventually { engine.reports.count == 2 })
        _ = await engine.stop()
    }
}
