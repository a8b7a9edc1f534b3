import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import PostgresJournal

/// What a node takes of others' jobs, and what it gives up.
@Suite("Taking over from nodes", .enabled(if: PostgresServer.isPossible, "needs postgresql"), .timeLimit(.minutes(5)))
struct TakeoverTests {
    private let server: PostgresServer
    private let place: String
    private let engine: EngineHarness
    private let other: PostgresJournal

    init() throws {
        server = try PostgresServer.shared.get()
        place = try server.schema()
        engine = try EngineHarness(scratch: try ScratchFolder(), stages: [.passing])
        try engine.start(journal: PostgresStore(place) { Incarnation(of: "own", version: "1") })
        other = try PostgresJournal.open(place, as: Incarnation(of: "other", version: "1"))
        var job = try JournalSamples.job(1, pipeline: "test")
        job.definition = engine.pipeline.definition
        try other.write([job], pipelines: [])
    }

    private func holder(in place: String? = nil) throws -> [String] {
        try server.ask(
            "SELECT n.name FROM unfinished u JOIN nodes n ON n.incarnation = u.node", in: place ?? self.place)
    }

    @Test("A node that is paused takes nothing from one that is dead until it is not any more")
    func paused() async throws {
        try engine.hold(["test"], HoldOrder(.pause, by: "anna", user: 0))
        try other.leave()
        other.close()
        for _ in 0..<3 { engine.takeover?.sync { $0.turn() } }
        #expect(try holder() == ["other"])
        try engine.hold(["test"], HoldOrder(nil, by: "anna", user: 0))
        #expect(try await eventually { try holder() == ["own"] })
        _ = await engine.stop()
    }

    @Test("Each turn takes a share of all that a node has left, so that no more turns are needed than there are nodes")
    func shares() async throws {
        let third = try PostgresJournal.open(place, as: Incarnation(of: "third", version: "1"))
        defer { third.close() }
        let takeover = try #require(engine.takeover)
        takeover.stop()
        let jobs = try (2...60).map { number in
            var job = try JournalSamples.job(number, pipeline: "test")
            job.definition = engine.pipeline.definition
            return job
        }
        try other.write(jobs, pipelines: [])
        try other.leave()
        other.close()
        for taken in [30, 60] {
            let dead = try third.markDead()
            takeover.sync { try? $0.takeRows(of: engine.pipeline, from: dead, of: 2, at: .now()) }
            #expect(try holder().count { $0 == "own" } == taken)
        }
        _ = await engine.stop()
    }

    @Test("A node looks just after a lease that is not renewed, though its time has not come")
    func lease() async throws {
        let brief = try PostgresJournal.open(place, as: Incarnation(of: "brief", version: "1", lease: .seconds(1)))
        defer { [brief, other].forEach { $0.close() } }
        var job = try JournalSamples.job(2, pipeline: "test")
        job.definition = engine.pipeline.definition
        try brief.write([job], pipelines: [])
        brief.stopKeeping()
        try engine.onlyHear()
        #expect(try await eventually { try Set(holder()) == ["own", "other"] })
        _ = await engine.stop()
    }

    @Test("A node that has as much at work as it may takes a dead one's jobs all the same, though not ever more")
    func full() async throws {
        let gate = Gate()
        let place = try server.schema()
        let busy = try EngineHarness(scratch: try ScratchFolder(), stages: [gate.entry]) { $0.activeJobs = 2 }
        try busy.start(journal: PostgresStore(place) { Incarnation(of: "busy", version: "1") })
        let dying = try PostgresJournal.open(place, as: Incarnation(of: "dying", version: "1"))
        for name in ["a", "b"] {
            try busy.drop(name)
            _ = try await busy.job(name)
        }
        let takeover = try #require(busy.takeover)
        takeover.stop()
        let jobs = try (2...9).map { number in
            var job = try JournalSamples.job(number, pipeline: "test")
            job.definition = busy.pipeline.definition
            return job
        }
        try dying.write(jobs, pipelines: [])
        try dying.leave()
        let dead = try dying.nodes().filter(\.isDead)
        dying.close()
        for _ in 0..<3 {
            takeover.sync { try? $0.takeRows(of: busy.pipeline, from: dead, of: 1, at: .now()) }
            #expect(try holder(in: place).count { $0 == "dying" } == 6)
        }
        gate.open()
        _ = await busy.stop()
    }

    @Test("What is a node's by its row and not known to it any node may have, at the second look")
    func audit() async throws {
        defer { other.close() }
        _ = try server.ask(
            "UPDATE unfinished SET node = (SELECT incarnation FROM nodes WHERE name = 'own')", in: place)
        // It may have been taken over again by then.
        let isGiven = "SELECT (token > 0 OR node = 'released')::int FROM unfinished"
        for given in ["0", "1"] {
            try #require(engine.takeover).sync { try? $0.audit() }
            #expect(try server.ask(isGiven, in: place) == [given])
        }
        _ = await engine.stop()
    }
}
