import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// What a monitor is told of pipelines that are not simply at work.
@Suite("Gauges", .timeLimit(.minutes(5))) struct PipelineGaugesTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("What is under way over a reload with `formerly` counts under the new name")
    func formerly() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: scratch, stages: [gate.entry])
        try engine.start()
        for name in ["a", "b"] { try engine.drop(name) }
        #expect(await eventually { engine.claimed.count == 2 && engine.started.count == 1 })
        var new = engine.pipeline
        (new.name, new.source, new.formerly) = ("new", "new.yaml", "test")
        new.declaration.keys["formerly"] = "test"
        _ = try engine.reload([new])
        let gauges = try #require(engine.gauges.first)
        #expect(gauges.name == "new" && gauges.jobs.values.reduce(0, +) == 2, "\(gauges.jobs)")
        #expect(gauges.jobs[.running] == 1 && gauges.firstClaim != nil)
        gate.open()
        #expect(await eventually { engine.reports.count == 2 })
        #expect(await eventually { engine.gauges.first?.jobs.values.reduce(0, +) == 0 })
        _ = await engine.stop()
    }

    @Test("A stage that runs for longer than a moment tells how far it is")
    func runs() async throws {
        let gate = Gate()
        let held = StageEntry.fake { (payload, context) throws(Failure) in
            context.work.progress.expect(bytes: 10)
            context.work.progress.add(bytes: 7, entries: 2)
            return try gate.entry.stage.run(payload, in: context)
        }
        let engine = try EngineHarness(scratch: scratch, stages: [held])
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.started.count == 1 })
        #expect(await eventually { engine.gauges.first?.runs.isEmpty == false })
        let run = try #require(engine.gauges.first?.runs.first)
        #expect(run.bytes == 7 && run.entries == 2 && run.total == 10 && run.time >= .seconds(1))
        #expect(run.job == engine.claimed.first?.id)
        gate.open()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(engine.gauges.first?.runs.isEmpty == true)
        _ = await engine.stop()
    }

    @Test("A pipeline whose folders did not answer at the start is in trouble")
    func awaited() async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.start()
        try engine.leaveOut(["silent": scratch.path("inbox")])
        #expect(engine.gauges.map(\.name) == ["test", "silent"])
        #expect(engine.gauges.map(\.isTroubled) == [false, true])
        _ = await engine.stop()
    }
}
