import Files
import PipelineKit
import TestSupport
import Testing

@testable import FolderWatch
@testable import PipelineEngine

/// A start after the daemon died with jobs at work.
@Suite("Yielding", .timeLimit(.minutes(5))) struct YieldingTests {
    private let gate = Gate()
    private let harness: EngineHarness
    private let (suspect, later): (JobID, JobID)

    init() throws {
        harness = try EngineHarness(scratch: ScratchFolder(), stages: [gate.entry])
        let ids = JobIDGenerator()
        (suspect, later) = (ids.next(), ids.next())
        try harness.leave(suspect, "suspect", recoveries: 1)
        try harness.leave(later, "later", recoveries: 0)
    }

    @Test("While a job runs alone inboxes are watched and what waits is told; then all goes on")
    func alone() async throws {
        try harness.start()
        #expect(await eventually { harness.started == [suspect] })
        try harness.drop("new")
        #expect(await eventually { await harness.waiting(for: "new")?.waiting == .yielding })
        #expect(harness.health.jobs == 2 && harness.claimed.map(\.id).sorted() == [suspect, later])
        #expect(harness.started == [suspect])
        gate.open()
        #expect(await eventually { harness.reports.count == 3 })
        #expect(harness.reports.first?.job.id == suspect)
        #expect(await harness.stop()?.processed == 3)
    }

    @Test("What a run that died has left is known as such after others that did not load its pipeline")
    func leftForLater() async throws {
        let other = try EngineHarness(scratch: harness.scratch, stages: [.passing]) { pipeline in
            pipeline.name = "other"
            pipeline.inbox = harness.scratch.path("other")
        }
        for _ in 0..<2 {
            try other.start(once: true)
            #expect(await eventually { other.summary != nil })
        }
        try harness.start()
        #expect(await eventually { harness.started == [suspect] }, "it runs alone")
        gate.open()
        #expect(await eventually { harness.reports.count == 2 })
        #expect(try harness.record(later)?.recoveries == 1)
        #expect(await harness.stop()?.processed == 2)
        // What this run has left it has left in order.
        let place = try harness.place()
        #expect(place?.leftBy == nil)
    }

    @Test("Nothing waits longer than that for a job that takes long")
    func bounded() async throws {
        try harness.start(yielding: .milliseconds(1))
        try harness.drop("new")
        #expect(await eventually { harness.claimed.count == 3 })
        #expect(harness.reports.isEmpty)
        gate.open()
        #expect(await eventually { harness.reports.count == 3 })
        #expect(await harness.stop()?.processed == 3)
    }
}
