import Dispatch
import Files
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import PipelineEngine

/// How much is at work at once, over reloads.
@Suite("Limits over reloads", .timeLimit(.minutes(5))) struct ReloadLimitTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// Lets runs of a stage end one by one, and counts those that run at once.
    private final class Turnstile: Sendable {
        private let turn = DispatchSemaphore(value: 0)
        private let counts = Mutex((now: 0, most: 0))

        var now: Int { counts.withLock { $0.now } }
        var most: Int { counts.withLock { $0.most } }
        func letThrough(_ count: Int) { for _ in 0..<count { turn.signal() } }

        func entry(workers: Int) -> StageEntry {
            .fake(workers: workers) { [self] (payload, context) throws(Failure) in
                counts.withLock { $0 = ($0.now + 1, max($0.most, $0.now + 1)) }
                defer { counts.withLock { $0.now -= 1 } }
                while turn.wait(timeout: .now() + .milliseconds(20)) != .success { try context.checkCancelled() }
                return payload
            }
        }
    }

    /// The most jobs that were claimed and not over at once.
    private func mostActive(_ harness: EngineHarness) -> Int {
        var (now, most) = (0, 0)
        for event in harness.events {
            switch event {
            case .claimed: now += 1
            case .settled: now -= 1
            default: break
            }
            most = max(most, now)
        }
        return most
    }

    @Test(
        "However often it is reloaded, no more runs at once than there are workers, and no more is claimed than may be")
    func limits() async throws {
        let turnstile = Turnstile()
        let harness = try EngineHarness(scratch: scratch, stages: [turnstile.entry(workers: 2)]) { $0.activeJobs = 4 }
        try harness.start()
        for number in 0..<12 { try harness.drop("\(number)") }
        #expect(await eventually { harness.claimed.count == 4 && turnstile.now == 2 })
        var next = harness.pipeline
        for round in 0..<4 {
            next.order = round.isMultiple(of: 2) ? .name : .arrival
            next.declaration.keys = ["order": "\(round)"]
            _ = try harness.reload([next])
            turnstile.letThrough(1)
            #expect(await eventually { harness.reports.count == round + 1 && turnstile.now == 2 })
            #expect(await eventually { harness.claimed.count == round + 5 })
        }
        // With fewer workers, and room for fewer, those that run are more than there may be, and end first.
        next.stages = [turnstile.entry(workers: 1)]
        (next.activeJobs, next.declaration.keys) = (2, ["active": "2"])
        _ = try harness.reload([next])
        turnstile.letThrough(1)
        #expect(await eventually { harness.reports.count == 5 && turnstile.now == 1 })
        #expect(harness.claimed.count == 8)
        turnstile.letThrough(7)
        #expect(await eventually { harness.reports.count == 12 })
        #expect(turnstile.most == 2)
        #expect(mostActive(harness) == 4)
        #expect(await eventually { harness.retired == 0 })
        #expect(await harness.stop()?.processed == 12)
    }

    @Test("Workers of a third generation begin when runs of the first end", arguments: 1...4)
    func generations(workers: Int) async throws {
        let turnstile = Turnstile()
        let ended = Atomic(0)
        func made(_ count: Int) -> StageWorkers {
            StageWorkers(
                entry: turnstile.entry(workers: count), pipeline: "test", durability: .fast,
                space: FreeSpace(of: [], floor: ByteSize(bytes: 0))
            ) { @Sendable _ in ended.wrappingAdd(1, ordering: .relaxed) }
        }
        func submit(_ count: Int, to stage: StageWorkers) throws {
            for _ in 0..<count {
                let job = Job(
                    id: JobIDGenerator().next(), pipeline: "test",
                    drop: Drop(name: FileName(unchecked: [0x61]), folders: [], size: 1, droppedAt: .now()),
                    claimedAt: .now(), folder: "/none")
                stage.submit(StageWorkers.Work(job: job, payload: Payload(dropOf: job), stage: 0))
            }
        }
        let (first, second, third) = (made(2), made(3), made(workers))
        try submit(5, to: first)
        #expect(await eventually { turnstile.now == 2 })
        #expect(first.stop().count == 3)
        second.follow(first)
        try submit(5, to: second)
        #expect(await eventually { turnstile.now == 3 })
        #expect(second.stop().count == 4)
        third.follow(second)
        try submit(6, to: third)
        #expect(await eventually { turnstile.now == max(3, workers) })
        for _ in 0..<9 {
            let before = ended.load(ordering: .relaxed)
            turnstile.letThrough(1)
            #expect(await eventually { ended.load(ordering: .relaxed) == before + 1 })
        }
        #expect(turnstile.now == 0)
        #expect(turnstile.most == max(3, workers))
    }
}
