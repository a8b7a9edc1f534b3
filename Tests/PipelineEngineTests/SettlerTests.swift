import Dispatch
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
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
        payload.sidecars = [Sidecar(suffix: ".sha256", parts: [.text("d  "), .name(.verbatim), .text("\n")])]
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

    @Test(
        "One at a time where it matters what comes first",
        arguments: [
            (Pipeline.Order.arrival, Pipeline.ConflictPolicy.rename, 2), (.arrival, .replace, 1), (.arrival, .fail, 1),
            (.name, .rename, 1), (.oldest, .rename, 1),
        ])
    func width(_ order: Pipeline.Order, _ onConflict: Pipeline.ConflictPolicy, _ width: Int) throws {
        let harness = try SpoolHarness { (pipeline, _) in (pipeline.order, pipeline.onConflict) = (order, onConflict) }
        #expect(Settler.width(of: harness.spool.pipeline) == width)
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

    @Test("Names that were chosen before something failed are known to whoever releases them")
    func namesOfAFailure() throws {
        let harness = try SpoolHarness()
        let drop = try harness.job()
        let output = try harness.scratch.makeFolder("output")
        let placement = Placement(
            role: .output, source: drop.original, folder: output, name: drop.drop.name, isFolder: false,
            sidecars: [Sidecar(suffix: ".sha256", parts: [.text("d  "), .name(.verbatim), .text("\n")])],
            onConflict: .fail)
        let job = Job(
            id: drop.id, pipeline: drop.pipeline, drop: drop.drop, claimedAt: drop.claimedAt,
            folder: harness.scratch.path("later"))
        let names = NameChooser()
        var batch = SettlementBatch(
            [harness.settlement(of: job, Payload(dropOf: job))], spool: harness.spool, journal: harness.writer,
            names: names)
        #expect(throws: IOError.self) { try batch.decide(placement, 0, 0) }
        #expect(batch.reserved == [output.appending("drop"), output.appending("drop.sha256")])
        names.release(batch.reserved)
        try Folder.make(job.folder)
        let decision = try batch.decide(placement, 0, 0)
        #expect(decision?.intents.map(\.target) == [output.appending("drop.sha256"), output.appending("drop")])
    }

    @Test("What an earlier run decided keeps its names")
    func namesOfAnEarlierRun() throws {
        let harness = try SpoolHarness()
        let job = try harness.job()
        let output = try harness.scratch.makeFolder("output")
        let names = NameChooser()
        #expect(names.reserveAgain([output.appending("drop")]) == [output.appending("drop")])
        #expect(names.reserveAgain([output.appending("drop")]) == [])
        let placement = Placement(
            role: .output, source: job.original, folder: output, name: job.drop.name, isFolder: false, sidecars: [],
            onConflict: .rename)
        #expect(try names.choose(placement, in: try HeldFolder(output), of: job).name.text == "drop.2")
    }

    @Test("Only a pipeline that syncs may say that a folder is on the disk", arguments: Durability.allCases)
    func foldersBySyncing(_ durability: Durability) throws {
        let harness = try SpoolHarness { (pipeline, _) in pipeline.durability = durability }
        let folder = harness.scratch.path("output").appending("a")
        let job = try harness.job()
        var payload = Payload(dropOf: job)
        payload.destination = folder
        _ = harness.settle(harness.settlement(of: job, payload))
        #expect(Folder.kind(of: folder.appending("drop")) == .regular)
        #expect(harness.spool.made.leading(to: folder).isEmpty == (durability == .full))
    }

    @Test("A folder that another batch made, and has not brought to the disk yet, is brought there by both")
    func foldersOfOthers() throws {
        let harness = try SpoolHarness()
        let spool = harness.spool
        let above = harness.scratch.path("output")
        let folder = above.appending("a").appending("b")
        var (first, second) = (Mover(with: spool), Mover(with: spool))
        try first.makeFolder(folder)
        try second.makeFolder(folder)
        #expect(first.folders == [above.removingLastComponent(), above, above.appending("a")])
        #expect(second.folders == first.folders)
        try first.sync()
        #expect(first.folders == [])
        try first.makeFolder(folder)
        #expect(first.folders == [])
    }

    @Test("What an earlier attempt moved is known unless somebody has changed it since", arguments: [false, true])
    func leftByAnEarlierAttempt(isChanged: Bool) throws {
        let harness = try SpoolHarness()
        let job = try harness.job()
        var settlement = harness.settlement(of: job)
        let target = harness.scratch.path("processed").appending("drop")
        let identity = try #require(FileIdentity.of(job.original))
        settlement.record.state = .settling
        settlement.record.intents = [
            Intent(role: .original, source: job.original, target: target, identity: identity)
        ]
        settlement.record.history.append(Transition("settling", at: .now()))
        try NoReplace.rename(job.original, to: target)
        if isChanged {
            let later = timespec(tv_sec: time(nil) + 5, tv_nsec: 0)
            #expect(utimensat(AT_FDCWD, target.string, [later, later], 0) == 0)
        }
        let (settled, _) = harness.settle(settlement)
        #expect(settled.record.state == .processed && settled.record.original == target)
        #expect((settled.record.originalState == nil) == isChanged)
    }

    @Test("A folder that is removed while a batch holds it open is made again")
    func removedFolder() throws {
        let harness = try SpoolHarness()
        let folder = harness.scratch.path("output").appending("a").appending("b")
        var mover = Mover(with: harness.spool)
        try mover.makeFolder(folder)
        let wasForgotten = mover.forget(ifRemoved: folder)
        #expect(!wasForgotten)
        try Folder.remove(folder.removingLastComponent())
        let isForgotten = mover.forget(ifRemoved: folder)
        #expect(isForgotten)
        try mover.makeFolder(folder)
        #expect(Folder.kind(of: folder) == .folder)
    }

    @Test(
        "A file in the place of a configured folder is no name to step aside from: it is waited for",
        arguments: [
            JobState.Outcome.processed, .failed(.file("test.bad", "Bad.")),
        ])
    func fileForFolder(outcome: JobState.Outcome) throws {
        let harness = try SpoolHarness()
        for folder in ["processed", "failed"] {
            try Folder.remove(harness.scratch.path(folder))
            try harness.scratch.write("x", to: folder)
        }
        let (settlement, result) = harness.settle(harness.settlement(of: try harness.job(), nil, outcome))
        guard case .failed(let failure) = result else {
            Issue.record("settled in a file")
            return
        }
        #expect(failure.class == .environment)
        for folder in ["processed", "failed"] {
            try Folder.remove(harness.scratch.path(folder))
            try Folder.make(harness.scratch.path(folder))
        }
        guard case .settled = harness.settle(settlement).result else {
            Issue.record("not settled once it was mended")
            return
        }
    }

    @Test("Nor is one that a placeholder leads below", arguments: ["output", "output/deep"])
    func fileAboveFolder(destination: String) throws {
        let harness = try SpoolHarness { (pipeline, scratch) in
            pipeline.stages = [try .publishing(below: scratch.path("output"))]
        }
        try harness.scratch.write("x", to: "output")
        let job = try harness.job()
        var payload = Payload(dropOf: job)
        payload.destination = harness.scratch.path(destination)
        guard case .failed(let failure) = harness.settle(harness.settlement(of: job, payload)).result else {
            Issue.record("published in a file")
            return
        }
        #expect(failure.class == .environment)
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
