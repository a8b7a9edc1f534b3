import Files
import Journal
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import PipelineEngine

/// What a person puts first or last in its line.
@Suite("Bumping", .timeLimit(.minutes(5))) struct BumpingTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The order in which drops reached the end.
    private func order(_ engine: EngineHarness) -> [String] { engine.reports.map(\.job.drop.name.text) }

    private func stageBegan(_ engine: EngineHarness) async -> Bool {
        await eventually { engine.events.contains { if case .stageStarted = $0 { true } else { false } } }
    }

    @Test("A job comes before, or behind, those that wait for the same stage")
    func stages() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry])
        try engine.start()
        var ids: [JobID] = []
        for name in ["a", "b", "c", "d"] {
            try engine.drop(name)
            ids.append(try await engine.job(name))
        }
        #expect(await stageBegan(engine))
        #expect(try engine.bump(ids[1], last: true) == "last of those that wait for 'fake'")
        #expect(try engine.bump(ids[3]) == "first of those that wait for 'fake'")
        #expect(try engine.bump(ids[0]) == "its stage 'fake' is running")
        #expect(try engine.bump(JobIDGenerator().next()).hasPrefix("no such job is on record"))
        gate.open()
        #expect(await eventually { engine.reports.count == 4 })
        // What ends at the same time is settled together, in any order.
        let begun = engine.events.compactMap { event in
            if case .stageStarted(let job, _) = event { job.drop.name.text } else { nil }
        }
        #expect(begun == ["a", "d", "c", "b"])
        #expect(try engine.bump(ids[0]) == "it is over: processed")
        _ = await engine.stop()
    }

    @Test("A drop comes before, or behind, those that wait to be claimed")
    func drops() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry]) { $0.activeJobs = 1 }
        try engine.start()
        try engine.drop("a")
        #expect(await stageBegan(engine))
        for name in ["b", "c", "d"] {
            try engine.drop(name)
            #expect(await eventually { await engine.waiting(for: name)?.waiting == .room })
        }
        #expect(try await engine.bump("b", last: true) == "last of those that wait to be claimed")
        #expect(try await engine.bump("d") == "first of those that wait to be claimed")
        #expect(try await engine.bump("a").hasPrefix("no drop of that name waits"))
        let writer = try OpenFile.open(scratch.path("inbox/e"), 0o101, mode: 0o600)
        #expect(await eventually { await engine.waiting(for: "e") != nil })
        #expect(try await engine.bump("e").hasPrefix("it is not complete yet, and waits: "))
        try writer.close()
        gate.open()
        #expect(await eventually { order(engine).contains("b") })
        #expect(Array(order(engine).prefix(3)) == ["a", "d", "c"])
        _ = await engine.stop()
    }

    @Test("What a pause holds goes on in the order that was asked for; what does not wait in a line is told so")
    func held() async throws {
        let isLater = Mutex(true)
        let stage = StageEntry.fake { (payload, _) throws(Failure) in
            guard payload.path.lastComponent?.string == "later", isLater.withLock({ $0 }) else { return payload }
            throw Failure(.transient, code: "later", summary: "Not now.")
        }
        let engine = try EngineHarness(scratch: scratch, stages: [.passing, stage]) {
            $0.retry = RetryPolicy(attempts: 5, backoff: .seconds(600), maxBackoff: .seconds(600))
        }
        try engine.start()
        try engine.drop("later")
        let deferred = try await engine.job("later")
        #expect(await eventually { engine.events.contains { if case .deferred = $0 { true } else { false } } })
        #expect(try engine.bump(deferred).hasPrefix("it waits for its next attempt"))
        _ = await engine.stop()
        // Jobs of an earlier run that are held from the first moment.
        let gate = Gate()
        let second = try EngineHarness(scratch: ScratchFolder(), stages: [gate.entry, .passing])
        try second.start()
        var ids: [JobID] = []
        for name in ["a", "b", "c"] {
            try second.drop(name)
            ids.append(try await second.job(name))
        }
        #expect(await stageBegan(second))
        try second.hold([], HoldOrder(.pause, by: "anna", user: 1000))
        gate.open()
        #expect(await eventually { second.events.contains { if case .stageFinished = $0 { true } else { false } } })
        #expect(try second.bump(ids[2]).hasPrefix("first of those that go on once they may"))
        try second.hold([], HoldOrder(nil, by: "anna", user: 1000))
        #expect(await eventually { second.reports.count == 3 })
        #expect(order(second).firstIndex(of: "c") ?? 3 < order(second).firstIndex(of: "b") ?? 0)
        _ = await second.stop()
    }
}
