import Dispatch
import Files
import PipelineKit
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// Jobs that a person calls off.
@Suite("Calling off", .timeLimit(.minutes(5))) struct CallingOffTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("A stage that runs is called off, and what waits behind it never begins")
    func runningAndQueued() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry])
        try engine.start()
        try engine.drop("first")
        let first = try await engine.job("first")
        #expect(await eventually { engine.events.contains { if case .stageStarted = $0 { true } else { false } } })
        try engine.drop("second")
        let second = try await engine.job("second")
        try engine.drop("third")
        let third = try await engine.job("third")
        #expect(try engine.callOff([second, first]) == [.stops(stage: "fake"), .stops(stage: "fake")])
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try scratch.tree("failed") == ["first", "first.error.json", "second", "second.error.json"])
        for id in [first, second] {
            #expect(await eventually { (try? engine.record(id)?.state) == .failed })
            let found = try #require(try engine.record(id))
            #expect(found.failure?.code == "operator.cancelled")
            #expect(found.failure?.summary.contains("anna") == true)
            #expect(found.history.contains { $0.event == "cancelled" && $0.note == "by anna" })
        }
        gate.open()
        #expect(await eventually { engine.reports.count == 3 })
        let late = try engine.callOff([third, first, JobIDGenerator().next()])
        #expect(late.prefix(2) == [.absent("it is over: processed"), .absent("it is over: cancelled")])
        #expect(late[2].text.hasPrefix("no such job is on record"))
        #expect(await engine.stop()?.failed == 2)
    }

    @Test("One that waits for its next attempt fails at once, and its time passes without effect")
    func deferred() async throws {
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (_, _) throws(Failure) in throw Failure(.transient, code: "later", summary: "Not now.") }
            ]
        ) { $0.retry = RetryPolicy(attempts: 5, backoff: .seconds(600), maxBackoff: .seconds(600)) }
        try engine.start()
        try engine.drop("a")
        let id = try await engine.job("a")
        #expect(await eventually { engine.events.contains { if case .deferred = $0 { true } else { false } } })
        #expect(try engine.callOff([id]) == [.settles])
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("failed") == ["a", "a.error.json"])
        _ = await engine.stop()
    }

    @Test("Where the pipeline is paused it settles afterwards, and that is said")
    func paused() async throws {
        let isBroken = Mutex(true)
        let stage = StageEntry.fake { (payload, _) throws(Failure) in
            guard isBroken.withLock({ $0 }) else { return payload }
            throw Failure(.environment, code: "io.write", summary: "The disk is full.", remedy: "")
        }
        let engine = try EngineHarness(scratch: scratch, stages: [stage]) { $0.onFailure = [.passing] }
        try engine.start()
        try engine.drop("a")
        let id = try await engine.job("a")
        #expect(await eventually { engine.events.contains { if case .paused = $0 { true } else { false } } })
        for _ in 1...2 { #expect(try engine.callOff([id]) == [.waits("the pipeline is paused: The disk is full.")]) }
        isBroken.withLock { $0 = false }
        #expect(await eventually { engine.reports.count == 1 })
        #expect(await eventually { engine.events.contains { if case .resumed = $0 { true } else { false } } })

        // A person's pause keeps failures from being notified.
        isBroken.withLock { $0 = true }
        try engine.drop("b")
        let second = try await engine.job("b")
        #expect(await eventually { engine.events.count { if case .paused = $0 { true } else { false } } == 2 })
        try engine.hold([], HoldOrder(.pause, by: "bob", user: 1000))
        isBroken.withLock { $0 = false }
        #expect(await eventually { engine.events.count { if case .resumed = $0 { true } else { false } } == 2 })
        let outcome = try #require(try engine.callOff([second]).first)
        #expect(outcome.text.contains("it settles as soon as it may: paused by bob"), "\(outcome)")
        try engine.hold([], HoldOrder(nil, by: "bob", user: 1000))
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try scratch.tree("failed") == ["a", "a.error.json", "b", "b.error.json"])
        _ = await engine.stop()
    }

    @Test("Where that cannot be put on record it is called off all the same, and the reason is told")
    func unwritten() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry])
        try engine.start()
        try engine.drop("a")
        let id = try await engine.job("a")
        let other = try Connection(SQLiteJournal.file(in: scratch.path("state")).string, for: .writing)
        try other.execute("BEGIN IMMEDIATE")
        #expect(try engine.callOff(unwritten: id) != nil)
        try other.execute("ROLLBACK")
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("failed") == ["a", "a.error.json"])
        #expect(await eventually { (try? engine.record(id)?.state) == .failed })
        _ = await engine.stop()
    }

    @Test("A worker that is about to begin learns that its job was called off before that is written down")
    func aboutToBegin() async throws {
        let (begins, mayGoOn) = (DispatchSemaphore(value: 0), DispatchSemaphore(value: 0))
        let wasCancelled = Mutex<Bool?>(nil)
        let ended = Mutex<StageWorkers.Result?>(nil)
        let space = FreeSpace(of: [], floor: ByteSize(bytes: 0))
        let workers = StageWorkers(entry: .passing, pipeline: "test", durability: .fast, space: space) { result in
            ended.withLock { $0 = result }
        }
        let job = Job(
            id: JobIDGenerator().next(), pipeline: "test",
            drop: Drop(name: try "a".fileName, size: 1, droppedAt: .now()), claimedAt: .now(), folder: scratch.path)
        var work = StageWorkers.Work(job: job, payload: Payload(dropOf: job), stage: 0)
        work.before = { @Sendable cancellation throws(Failure) in
            begins.signal()
            mayGoOn.wait()
            wasCancelled.withLock { $0 = cancellation.isCancelled }
            if cancellation.isCancelled { throw .cancelled }
        }
        workers.submit(work)
        begins.wait()
        #expect(!workers.callOff(job.id), "a worker has it")
        mayGoOn.signal()
        #expect(await eventually { ended.withLock { $0 != nil } })
        #expect(wasCancelled.withLock { $0 } == true)
        #expect(ended.withLock { $0?.hasRun } == false)
    }

    @Test("What a stage finishes nevertheless is not published")
    func finishes() async throws {
        let isWaiting = Mutex(false)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, context) throws(Failure) in
                    isWaiting.withLock { $0 = true }
                    // It notices that it is called off, and ends as if it had not.
                    while !context.work.cancellation.isCancelled {}
                    return payload
                }
            ])
        try engine.start()
        try engine.drop("a")
        let id = try await engine.job("a")
        #expect(await eventually { isWaiting.withLock { $0 } })
        #expect(try engine.callOff([id]) == [.stops(stage: "fake")])
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("failed") == ["a", "a.error.json"])
        #expect(try scratch.tree("processed") == [])
        _ = await engine.stop()
    }

    @Test("It stays called off where the daemon dies before the stage has ended")
    func onRecord() async throws {
        let isWaiting = Mutex(false)
        let mayEnd = Mutex(false)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, _) throws(Failure) in
                    isWaiting.withLock { $0 = true }
                    while !mayEnd.withLock({ $0 }) {}
                    return payload
                }
            ])
        try engine.start()
        try engine.drop("a")
        let id = try await engine.job("a")
        #expect(await eventually { isWaiting.withLock { $0 } })
        #expect(try engine.callOff([id]) == [.stops(stage: "fake")])
        let found = try #require(try engine.record(id))
        #expect(found.progress == .settling(.failed(.calledOff(by: "anna"))))
        #expect(try engine.callOff([id]) == [.stops(stage: "fake")], "it is being called off")
        mayEnd.withLock { $0 = true }
        #expect(await eventually { engine.reports.count == 1 })
        _ = await engine.stop()
    }
}
