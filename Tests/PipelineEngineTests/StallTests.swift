import Dispatch
import Files
import Journal
import PipelineKit
import TestSupport
import Testing

@testable import PipelineEngine

/// A pipeline in which something is at work and nothing moves.
@Suite("Stalls", .timeLimit(.minutes(5))) struct StallTests {
    private typealias Mark = StallDetector.Mark

    private func look(_ detector: inout StallDetector, _ mark: Mark?, _ seconds: Int64) -> StallDetector.News? {
        detector.look(mark, at: at(seconds), limit: .seconds(100))
    }

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test("What does not move for long stalls, until it moves")
    func detection() {
        var detector = StallDetector()
        func look(_ mark: Mark?, _ seconds: Int64) -> StallDetector.News? { self.look(&detector, mark, seconds) }
        #expect(look(Mark(events: 1), 0) == nil)
        #expect(look(Mark(events: 1), 50) == nil)
        #expect(look(Mark(events: 1), 99) == nil)
        #expect(look(Mark(events: 1, bytes: 1), 100) == nil, "progress of a stage is movement")
        #expect(look(Mark(events: 1, bytes: 1), 150) == nil)
        #expect(look(Mark(events: 1, bytes: 1), 200) == .stalls(Stall(.jobs, for: .seconds(100))))
        #expect(look(Mark(events: 1, bytes: 1), 250) == nil && detector.stall?.time == .seconds(150))
        #expect(look(Mark(events: 2, bytes: 0), 252) == .moves(after: .seconds(150)))
        #expect(detector.stall == nil)
        #expect(look(nil, 260) == nil)
        #expect(look(Mark(events: 2, bytes: 0), 310) == nil, "what begins has rested for no time")
        #expect(look(Mark(events: 2, bytes: 0), 360) == nil)
        #expect(look(nil, 400) == nil)
        for seconds in stride(from: Int64(400), through: 1000, by: 50) { #expect(look(nil, seconds) == nil) }
    }

    @Test("An inbox that does not answer stalls, and is not asked again")
    func silentInbox() {
        var detector = StallDetector()
        #expect(detector.asks(at: at(0)) == true)
        #expect(detector.asks(at: at(2)) == false)
        detector.answered()
        #expect(detector.asks(at: at(10)) == true)
        for seconds in stride(from: Int64(10), to: 110, by: 20) { #expect(look(&detector, nil, seconds) == nil) }
        #expect(detector.isSilent(for: .seconds(60), at: at(70)) && !detector.isSilent(for: .seconds(61), at: at(70)))
        #expect(look(&detector, nil, 110) == .stalls(Stall(.inbox, for: .seconds(100))))
        detector.answered()
        #expect(look(&detector, nil, 112) == .moves(after: .seconds(100)))
    }

    @Test("A process that was stopped itself has no stalls")
    func ownRest() {
        var detector = StallDetector()
        #expect(detector.asks(at: at(0)) == true)
        #expect(look(&detector, Mark(), 0) == nil)
        #expect(look(&detector, Mark(), 3600) == nil)
        #expect(look(&detector, Mark(), 3660) == nil)
        #expect(look(&detector, Mark(), 3700) == .stalls(Stall(.inbox, for: .seconds(100))))
    }

    private func stall(_ harness: EngineHarness) -> Stall? {
        harness.events.lazy.compactMap { if case .stalled("test", let stall) = $0 { stall } else { nil } }.first
    }

    private func movesAgain(_ harness: EngineHarness) -> Bool {
        harness.events.contains { if case .moving("test", _) = $0 { true } else { false } }
    }

    @Test("A stage that hangs is told, and that it goes on; a person's pause is no stall")
    func hangingStage() async throws {
        let gate = Gate()
        let harness = try EngineHarness(scratch: scratch, stages: [gate.entry])
        try harness.start(stall: .seconds(1))
        try harness.drop("a")
        #expect(await eventually { stall(harness)?.place == .jobs })
        #expect(harness.health.stalled["test"]?.place == .jobs)
        #expect(harness.health.text == "1 pipeline: 1 job at work, 0 wait, 1 stalled")
        #expect(await harness.waitingReport().stalled["test"]?.place == .jobs)
        try harness.hold([], HoldOrder(.pause, by: "anna", user: 1000, reason: "", for: nil))
        #expect(await eventually { movesAgain(harness) && harness.health.stalled.isEmpty })
        gate.open()
        #expect(await eventually { harness.reports.count == 1 })
        _ = await harness.stop()
    }

    @Test("An inbox that does not answer keeps nobody from an answer")
    func hangingInbox() async throws {
        let harness = try EngineHarness(scratch: scratch, stages: [.passing])
        try harness.start(stall: .seconds(1))
        #expect(await harness.waitingReport().inboxes.keys.sorted() == ["test"])
        let blocked = DispatchSemaphore(value: 0)
        harness.intakeQueue?.async { @Sendable in blocked.wait() }
        let report = await harness.waitingReport()
        #expect(report.inboxes.isEmpty && report.silent == ["test"])
        #expect(await eventually { stall(harness)?.place == .inbox })
        #expect(harness.health.stalled["test"]?.place == .inbox)
        blocked.signal()
        #expect(await eventually { movesAgain(harness) })
        #expect(await harness.waitingReport().silent.isEmpty)
        _ = await harness.stop()
    }

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }
}
