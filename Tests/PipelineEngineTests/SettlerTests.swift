import Dispatch
import PipelineKit
import Synchronization
import TestSupport
import Testing

@testable import PipelineEngine

/// Batches that are settled at the same time: the journal stands still until a test lets it go on.
@Suite("Settler") struct SettlerTests {
    private let held = DispatchQueue(label: "held")
    private let outcomes = Outcomes()

    private final class Outcomes: Sendable {
        let all = Mutex<[Settler.Outcome]>([])
        var ids: [JobID] { all.withLock { $0.map(\.settlement.job.id) } }
    }

    private func settler(_ harness: SpoolHarness) -> Settler {
        held.suspend()
        let outcomes = outcomes
        return Settler(
            spool: harness.spool, journal: JournalWriter(journal: MemoryJournal(), queue: held), warn: { _ in },
            deliver: { outcome in outcomes.all.withLock { $0 += outcome } })
    }

    private func withDigest(_ job: Job, _ harness: SpoolHarness) -> Settlement {
        var payload = Payload(dropOf: job)
        payload.companions = [Companion(suffix: ".sha256", parts: [.checksumLine(digest: "d")])]
        return harness.settlement(of: job, payload)
    }

    private func isPrepared(_ job: Job) -> Bool { Folder.kind(of: job.folder.appending(".beside-1-1")) == .regular }

    @Test("While one batch waits for the journal another is prepared, and neither takes the other's names")
    func twoAtATime() async throws {
        let harness = try SpoolHarness()
        let settler = settler(harness)
        let first = try harness.job(), second = try harness.job()
        settler.settle(withDigest(first, harness))
        #expect(await eventually { isPrepared(first) })
        settler.settle(withDigest(second, harness))
        #expect(await eventually { isPrepared(second) })
        #expect(try harness.scratch.tree("processed") == [])

        held.resume()
        #expect(await eventually { outcomes.ids.count == 2 })
        #expect(try harness.scratch.tree("processed") == ["drop", "drop.2", "drop.2.sha256", "drop.sha256"])
        #expect(try Folder.names(in: harness.spool.work.active).isEmpty)
    }

    @Test("With `replace` what was finished last is published last")
    func oneAtATime() async throws {
        let harness = try SpoolHarness { (pipeline, _) in pipeline.onConflict = .replace }
        let settler = settler(harness)
        let jobs = try (1...20).map { try harness.job(["drop": "\($0)"]) }
        for job in jobs { settler.settle(withDigest(job, harness)) }
        #expect(await eventually { isPrepared(jobs[0]) })

        held.resume()
        #expect(await eventually { outcomes.ids.count == jobs.count })
        #expect(outcomes.ids == jobs.map(\.id))
        #expect(try harness.scratch.text("processed/drop") == "20")
    }

    @Test("A folder that another batch made, and has not brought to the disk yet, is brought there by both")
    func foldersOfOthers() throws {
        let harness = try SpoolHarness()
        let spool = harness.spool
        let above = harness.scratch.path("output")
        let folder = above.appending("a").appending("b")
        var (first, second, third) = (SettlementEffects(), SettlementEffects(), SettlementEffects())
        try spool.makeFolder(folder, &first)
        try spool.makeFolder(folder, &second)
        #expect(first.folders == [above.removingLastComponent(), above, above.appending("a")])
        #expect(second.folders == first.folders)
        spool.made.forget(first.made)
        try spool.makeFolder(folder, &third)
        #expect(third.folders == [])
    }

    @Test("A name is free again once its batch is over")
    func namesAreReleased() async throws {
        let harness = try SpoolHarness()
        let settler = settler(harness)
        held.resume()
        for count in 1...3 {
            settler.settle(withDigest(try harness.job(), harness))
            #expect(await eventually { outcomes.ids.count == count })
            for name in try harness.scratch.tree("processed") {
                try Folder.remove(harness.scratch.path("processed").appending(try name.fileName))
            }
        }
        settler.settle(withDigest(try harness.job(), harness))
        #expect(await eventually { outcomes.ids.count == 4 })
        #expect(try harness.scratch.tree("processed") == ["drop", "drop.sha256"])
    }
}
