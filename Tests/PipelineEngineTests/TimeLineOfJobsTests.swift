import Files
import Glibc
import Journal
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// What jobs of an engine leave on record for their time lines.
@Suite("Time lines of jobs", .timeLimit(.minutes(5))) struct TimeLineOfJobsTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func line(_ harness: EngineHarness, _ name: String) async throws -> TimeLine {
        let record = try #require(try harness.record(try await harness.job(name)))
        return TimeLine(of: record, stages: harness.pipeline.stages.map(\.kind))
    }

    /// Kinds and outcomes of a row's spans.
    private func spans(_ line: TimeLine, _ row: Int) -> [String] {
        line.rows[row].spans.map { "\($0.kind)\($0.outcome.map { " \($0)" } ?? "")\($0.to == nil ? "…" : "")" }
    }

    @Test("Seen, held by a writer, tried again, queued behind another, settled")
    func all() async throws {
        let runs = Mutex(0)
        let stage = StageEntry.fake { (payload, _) throws(Failure) in
            guard
                runs.withLock({ runs in
                    runs += 1
                    return runs == 1
                })
            else { return payload }
            throw Failure(.transient, code: "busy", summary: "It is busy.")
        }
        let harness = try EngineHarness(scratch: scratch, stages: [stage]) {
            $0.retry = RetryPolicy(attempts: 3, backoff: .milliseconds(60), maxBackoff: .seconds(1))
            $0.ready.writers = .wait
        }
        try harness.drop("a")
        let writer = try OpenFile.open(scratch.path("inbox/a"), O_WRONLY)
        try harness.start()
        var isHeld = false
        while !isHeld {
            if case .heldOpen? = await harness.waiting(for: "a")?.waiting {
                isHeld = await eventually { (await harness.waiting(for: "a")?.known ?? .zero) > .milliseconds(400) }
            } else {
                await Task.yield()
            }
        }
        try writer.close()
        #expect(await eventually { harness.reports.count == 1 })
        _ = await harness.stop()
        let line = try await line(harness, "a")
        let held = try #require(line.held.first { $0.code == "open-writer" })
        #expect(held.time >= .milliseconds(100) && held.text.hasPrefix("held open for writing by "))
        #expect(spans(line, 0).count >= 2)
        #expect(line.firstSeen == line.rows[0].spans.first?.from)
        let own = spans(line, 1).filter { $0 != "queued" }
        #expect(own == ["run again", "deferred", "run done"])
        #expect(line.rows[1].time(.deferred) >= .milliseconds(40))
        #expect(spans(line, 2).last == "settling done")
    }

    @Test("A run that takes long is on record while it runs; the daemon's end breaks it off, and the next one goes on")
    func running() async throws {
        let gate = Gate()
        let harness = try EngineHarness(scratch: scratch, stages: [gate.entry])
        try harness.start()
        try harness.drop("a")
        #expect(
            await eventually {
                guard let id = harness.claimed.first?.id, let record = try? harness.record(id) else { return false }
                return spans(TimeLine(of: record, stages: ["fake"]), 1).last == "run…"
            })
        _ = await harness.stop()
        let broken = try await line(harness, "a")
        #expect(spans(broken, 1).filter { $0 != "queued" } == ["run again", "queued…"])
        gate.open()
        try harness.start()
        #expect(await eventually { harness.reports.count == 1 })
        _ = await harness.stop()
        let record = try #require(try harness.record(try await harness.job("a")))
        #expect(record.history.map(\.event).filter { $0 == "broken off" || $0 == "begun" } == ["broken off"])
        #expect(spans(try await line(harness, "a"), 1).filter { $0 != "queued" } == ["run again", "run done"])
    }

    @Test("A pause of a person is told of a drop that waited for its end")
    func paused() async throws {
        let harness = try EngineHarness(scratch: scratch, stages: [.passing])
        try harness.start()
        try harness.hold(["test"], try HoldOrder(.pause, by: "anna", user: 1000, reason: "RIP is down", for: nil))
        try harness.drop("a")
        #expect(await eventually { (await harness.waiting(for: "a")?.known ?? .zero) > .milliseconds(700) })
        try harness.hold([], try HoldOrder(nil, by: "anna", user: 1000, reason: "", for: nil))
        #expect(await eventually { harness.reports.count == 1 })
        _ = await harness.stop()
        let line = try await line(harness, "a")
        #expect(line.held.map(\.code).contains("held"))
        #expect(line.held.contains { $0.text == "the pipeline is paused by anna: RIP is down" })
    }
}
