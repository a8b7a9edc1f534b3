import Dispatch
import Files
import Journal
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// A pipeline in which something is at work and nothing moves.
@Suite("Stalls", .timeLimit(.minutes(5))) struct StallTests {
    private typealias Mark = StallDetector.Mark

    private let one = Stall.Subject.stage(JobID.first(at: .now()), "one", "run")
    private let other = Stall.Subject.settlement(JobID.first(at: .now()), "other")

    private func look(_ detector: inout StallDetector, _ marks: [Mark], _ seconds: Int64) -> StallDetector.News? {
        detector.look(marks, at: at(seconds), limit: .seconds(100))
    }

    private func at(_ seconds: Int64) -> MonotonicTime { MonotonicTime(nanoseconds: seconds * 1_000_000_000) }

    @Test("What does not move for long stalls, until it moves")
    func detection() {
        var detector = StallDetector()
        func look(_ moves: Int64?, _ seconds: Int64) -> StallDetector.News? {
            self.look(&detector, moves.map { [Mark(subject: .all, moves: $0)] } ?? [], seconds)
        }
        #expect(look(1, 0) == nil)
        #expect(look(1, 50) == nil)
        #expect(look(1, 99) == nil)
        #expect(look(2, 100) == nil)
        #expect(look(2, 150) == nil)
        #expect(look(2, 200) == .stalls(Stall(.all, for: .seconds(100))))
        #expect(look(2, 250) == nil && detector.stall?.time == .seconds(150))
        #expect(look(3, 252) == .moves(after: .seconds(150)))
        #expect(detector.stall == nil)
        #expect(look(nil, 260) == nil)
        #expect(look(3, 310) == nil, "what begins has rested for no time")
        #expect(look(3, 360) == nil)
        #expect(look(nil, 400) == nil)
        for seconds in stride(from: Int64(400), through: 1000, by: 50) { #expect(look(nil, seconds) == nil) }
    }

    @Test("One that does not move stalls among others that do; the one that rests for longest is told")
    func amongOthers() {
        var detector = StallDetector()
        func look(_ first: Int64?, _ second: Int64?, _ seconds: Int64) -> StallDetector.News? {
            let marks = [first.map { Mark(subject: one, moves: $0) }, second.map { Mark(subject: other, moves: $0) }]
            return self.look(&detector, marks.compactMap(\.self), seconds)
        }
        for seconds in stride(from: Int64(0), to: 100, by: 50) { #expect(look(7, seconds, seconds) == nil) }
        #expect(look(7, 50, 100) == .stalls(Stall(one, for: .seconds(100))))
        #expect(look(7, 50, 150) == nil && detector.stall?.subject == one, "the other one stalls, too")
        #expect(look(8, 50, 200) == .stalls(Stall(other, for: .seconds(150))))
        #expect(look(8, 50, 240) == nil)
        #expect(look(9, nil, 250) == .moves(after: .seconds(190)))
        #expect(look(9, 50, 300) == nil, "it is at work again, with something else")
    }

    @Test("An inbox that does not answer stalls, and is not asked again")
    func silentInbox() {
        var detector = StallDetector()
        #expect(detector.asks(at: at(0)) == true)
        #expect(detector.asks(at: at(2)) == false)
        detector.answered()
        #expect(detector.asks(at: at(10)) == true)
        for seconds in stride(from: Int64(10), to: 110, by: 20) { #expect(look(&detector, [], seconds) == nil) }
        #expect(detector.isSilent(for: .seconds(60), at: at(70)) && !detector.isSilent(for: .seconds(61), at: at(70)))
        #expect(look(&detector, [], 110) == .stalls(Stall(.inbox, for: .seconds(100))))
        detector.answered()
        #expect(look(&detector, [], 112) == .moves(after: .seconds(100)))
    }

    @Test("A process that was stopped itself has no stalls")
    func ownRest() {
        var detector = StallDetector()
        let marks = [Mark(subject: one, moves: 0)]
        #expect(detector.asks(at: at(0)) == true)
        #expect(look(&detector, marks, 0) == nil)
        #expect(look(&detector, marks, 3600) == nil)
        #expect(look(&detector, marks, 3660) == nil)
        #expect(look(&detector, marks, 3700) == .stalls(Stall(.inbox, for: .seconds(100))))
    }

    private func stalls(_ harness: EngineHarness) -> [Stall] {
        harness.events.compactMap { if case .stalled("test", let stall) = $0 { stall } else { nil } }
    }

    private func movesAgain(_ harness: EngineHarness) -> Bool {
        harness.events.contains { if case .moving("test", _) = $0 { true } else { false } }
    }

    @Test("A stage that hangs is told while others go on; a person's pause is no stall")
    func hangingStage() async throws {
        let gate = Gate()
        let entry = StageEntry(kind: "run", stage: gate.entry.stage, when: Condition(name: try #require(Glob("hangs"))))
        let harness = try EngineHarness(scratch: scratch, stages: [entry]) { $0.order = .name }
        try harness.start(stall: .seconds(1))
        try harness.drop("hangs")
        let job = try await harness.job("hangs")
        let stall = Stall(.stage(job, "hangs", entry.kind), for: .seconds(1))
        var others = 0
        #expect(
            try await eventually {
                others += 1
                try harness.drop("other-\(others)")
                return stalls(harness).contains { $0.subject == stall.subject }
            })
        #expect(stall.text == "'\(entry.kind)' of 'hangs' (job \(job)) has not moved for 1.0 s")
        #expect(stall.job == job && stall.stage == entry.kind)
        #expect(await eventually { harness.health.stalled["test"]?.subject == stall.subject })
        #expect(harness.health.text.hasSuffix(", 1 stalled"))
        #expect(await eventually { await harness.waitingReport().stalled["test"]?.subject == stall.subject })
        try harness.hold([], HoldOrder(.pause, by: "anna", user: 1000, reason: "", for: nil))
        #expect(await eventually { movesAgain(harness) && harness.health.stalled.isEmpty })
        gate.open()
        #expect(await eventually { harness.reports.contains { $0.job.id == job } })
        _ = await harness.stop()
    }

    @Test("What a stage does counts, also where it has no number")
    func movingStage() {
        let progress = StageProgress()
        var seen: Set<Int64> = [progress.moves]
        for change in [{ progress.add(bytes: 1) }, { progress.add(entries: 1) }, { progress.move() }] {
            change()
            #expect(seen.insert(progress.moves).inserted)
        }
        let work = StageContext.Work(progress: progress)
        #expect(!work.isStopped() && seen.insert(progress.moves).inserted)
        work.cancellation.cancel()
        #expect(work.isStopped())
    }

    @Test("A comparison is seen to go on")
    func comparing() throws {
        for name in ["a", "b"] { try scratch.write(String(repeating: "x", count: 1 << 20), to: "\(name)/file") }
        var moves = 0
        let folder = try Folder.open(scratch.path)
        #expect(try Transfer.isCopy("a", in: folder, of: "b", in: folder) { moves += 1 })
        #expect(moves >= 4)
    }

    @Test(
        "A settlement that hangs is told", .enabled(if: SilentMount.isPossible, Comment(rawValue: SilentMount.skip)))
    func hangingSettlement() async throws {
        let gate = Gate()
        let harness = try EngineHarness(scratch: scratch, stages: [gate.entry])
        try harness.start(stall: .seconds(1))
        try harness.drop("a")
        let job = try await harness.job("a")
        #expect(await eventually { harness.started == [job] })
        var mount: SilentMount? = try SilentMount(at: scratch.path("processed"))
        gate.open()
        #expect(await eventually { stalls(harness).last?.subject == .settlement(job, "a") })
        mount?.giveUp()
        mount = nil
        #expect(await eventually { harness.reports.count == 1 })
        #expect(try scratch.tree("processed") == ["a"])
        _ = await harness.stop()
    }

    @Test("An inbox that does not answer keeps nobody from an answer; it is silent only after a while")
    func hangingInbox() async throws {
        let harness = try EngineHarness(scratch: scratch, stages: [.passing])
        try harness.start(stall: .seconds(3))
        #expect(await harness.waitingReport().inboxes.keys.sorted() == ["test"])
        let blocked = DispatchSemaphore(value: 0)
        harness.intakeQueue?.async { @Sendable in blocked.wait() }
        let report = await harness.waitingReport(within: .milliseconds(1))
        #expect(report.inboxes.isEmpty && report.busy == ["test"] && report.silent.isEmpty)
        #expect(await eventually { stalls(harness).last?.subject == .inbox })
        #expect(harness.health.stalled["test"]?.subject == .inbox)
        let later = await harness.waitingReport()
        #expect(later.silent == ["test"] && later.busy.isEmpty && later.inboxes.isEmpty)
        blocked.signal()
        #expect(await eventually { movesAgain(harness) })
        let again = await harness.waitingReport()
        #expect(again.silent.isEmpty && again.inboxes.count == 1)
        _ = await harness.stop()
    }

    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }
}
