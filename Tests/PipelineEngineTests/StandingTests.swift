import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// What others can see of jobs and pauses while the engine is at work.
@Suite("How jobs and pauses stand", .timeLimit(.minutes(5)), .serialized) struct StandingTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func counts() throws -> [JobRecord.State: Int] {
        let journal = try SQLiteJournal.open(reading: scratch.path("state"))
        defer { journal.close() }
        return Dictionary(try journal.counts().map { ($0.state, $0.count) }, uniquingKeysWith: +)
    }

    @Test("A job is running while a worker has it, and queued before; the journal says so")
    func running() async throws {
        let isOpen = Mutex(false)
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .passing,
                .fake { (payload, context) throws(Failure) in
                    while !isOpen.withLock({ $0 }) { try context.checkCancelled() }
                    return payload
                },
            ])
        try engine.start()
        for number in 0..<4 { try engine.drop("f\(number)") }
        #expect(try await eventually { try counts() == [.running: 1, .queued: 3] })
        let begun = engine.events.count { if case .stageStarted = $0 { true } else { false } }
        #expect(begun == 5, "a stage begins when a worker takes the job")
        isOpen.withLock { $0 = true }
        #expect(try await eventually { try counts() == [.processed: 4] })
        _ = await engine.stop()
    }

    /// What a daemon was at when it died is put on record before it runs again; what is queued behind it is not.
    @Test("Of jobs that were found again only those run that have a worker")
    func foundAgain() async throws {
        let isOpen = Mutex(false)
        let stage = StageEntry.fake { (payload, context) throws(Failure) in
            while !isOpen.withLock({ $0 }) { try context.checkCancelled() }
            return payload
        }
        let engine = try EngineHarness(scratch: scratch, stages: [stage])
        let active = try WorkFolder.path(for: engine.pipeline).appending("active")
        let ids = JobIDGenerator()
        for number in 0..<3 { try scratch.write([1], to: active.appending(ids.next().text).appending("f\(number)")) }
        try engine.start()
        #expect(try await eventually { try counts() == [.running: 1, .queued: 2] })
        isOpen.withLock { $0 = true }
        #expect(try await eventually { try counts() == [.processed: 3] })
        _ = await engine.stop()
    }

    @Test("Called off, a job is queued again")
    func calledOff() async throws {
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (payload, context) throws(Failure) in
                    while true { try context.checkCancelled() }
                }
            ])
        try engine.start()
        try engine.drop("a")
        #expect(try await eventually { try counts() == [.running: 1] })
        _ = await engine.stop(grace: .zero)
        #expect(try counts() == [.queued: 1])
    }

    @Test("What was left alone and is taken later is left alone no more")
    func takenLater() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try scratch.link("inbox/a", to: "elsewhere")
        try engine.start()
        #expect(await eventually { await engine.waiting().leftCount == 1 })
        try engine.drop("a")
        #expect(await eventually { engine.reports.count == 1 })
        #expect(await eventually { await engine.waiting().leftCount == 0 })
        #expect(await engine.waiting(for: "a") == nil)
        _ = await engine.stop()
    }

    private static let chattr = Tool.find("chattr")

    /// The inbox can be looked at, and so the way to it seems well; what fails is the claim.
    @Test(
        "A trouble that comes back with each try is one trouble, and as old as it is",
        .enabled(if: TemporaryMount.isPossible && chattr != nil, "needs root, and chattr"))
    func relapses() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.start()
        let chattr = try #require(Self.chattr)
        // Nothing was claimed yet, so there is no folder for a job.
        let slots = try WorkFolder.path(for: engine.pipeline).appending("active").string
        #expect(try chattr.run(["+i", slots]).status == 0)
        defer { do { _ = try chattr.run(["-i", slots]) } catch { Issue.record(error) } }
        try engine.drop("second")
        func pauses() throws -> [Timestamp?] {
            let journal = try SQLiteJournal.open(reading: scratch.path("state"))
            defer { journal.close() }
            return try journal.pipelines().filter { $0.paused != nil }.map(\.pausedSince)
        }
        #expect(try await eventually { try !pauses().isEmpty })
        let since = try pauses()
        // Some tries later.
        #expect(await eventually { engine.pauseBeforeProbe >= .seconds(4) })
        #expect(try pauses() == since)
        let told = engine.events.compactMap { event -> String? in
            switch event {
            case .paused: "paused"
            case .resumed: "resumed"
            default: nil
            }
        }
        #expect(told == ["paused"])
        // A try may be under way just now.
        #expect(
            await eventually {
                let waiting = await engine.waiting(for: "second")?.waiting
                return waiting?.code == "paused" || waiting == nil
            })
        #expect(try chattr.run(["-i", slots]).status == 0)
        #expect(await eventually { engine.reports.count == 1 })
        #expect(await eventually { engine.events.contains { if case .resumed = $0 { true } else { false } } })
        #expect(try await eventually { try pauses().isEmpty })
        _ = await engine.stop()
    }
}
