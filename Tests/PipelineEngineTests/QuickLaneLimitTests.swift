import Dispatch
import Files
import Glibc
import Journal
import PipelineKit
import SQLiteJournal
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// What the quick lane does not do: touch what it leaves, take more than it should, keep others from renaming.
@Suite("Limits of the quick lane", .timeLimit(.minutes(5))) struct QuickLaneLimitTests {
    private static let refusing = StageEntry.quick({ (payload, _) throws(Failure) in payload }, { (_, _) in nil })

    private func ready(_ job: Job) throws -> Fingerprint { Fingerprint(try #require(FileStatus.of(job.original))) }

    /// So it needs no row before it goes the usual way: a start finds a claim as any other.
    @Test("What leaves the lane is as it was claimed: nothing beside it, nothing on record")
    func leaving() async throws {
        let harness = try SpoolHarness { (pipeline, _) in pipeline.stages = [Self.refusing] }
        let lane = try #require(QuickLane(of: harness.spool, StageSlots()))
        let job = try harness.job()
        let before = try #require(FileStatus.of(job.original))
        let ran = Mutex<Int?>(nil), left = Mutex<[JobID]?>(nil)
        #expect(
            lane.run(
                [QuickLane.Claim(job: job, ready: Fingerprint(before), waited: .zero)], claimed: .now(),
                deliver: { @Sendable active in ran.withLock { $0 = active.count } },
                leave: { @Sendable claims in left.withLock { $0 = claims.map(\.job.id) } }))
        #expect(await eventually { left.withLock { $0 != nil } })
        #expect(ran.withLock { $0 } == 0 && left.withLock { $0 } == [job.id])
        #expect(try harness.scratch.tree(".dropmill/test/active") == ["\(job.id)/", "\(job.id)/drop"])
        let after = try #require(FileStatus.of(job.original))
        #expect(Fingerprint(after) == Fingerprint(before))
        #expect(after.st_mode == before.st_mode && after.st_ctim.tv_nsec == before.st_ctim.tv_nsec)
        let journal = try SQLiteJournal.open(reading: harness.scratch.path("state"))
        defer { journal.close() }
        #expect(try journal.jobs(JobQuery()).isEmpty)
        lane.stop()
    }

    @Test("Who opened a drop between the last look and its claim, or wrote to it, keeps it out of the lane")
    func lateWriter() throws {
        let harness = try SpoolHarness { (pipeline, _) in
            pipeline.stages = [Self.refusing]
            pipeline.ready.writers = .wait
        }
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: 64, alignment: 16)
        defer { buffer.deallocate() }
        let job = try harness.job()
        let seen = try ready(job)
        func passes() throws -> Bool {
            try harness.spool.withContent(of: job, ready: seen, claimed: .now(), buffer) { content, _ in
                content.bytes.count == seen.size
            } ?? false
        }
        #expect(try passes())
        let writer = try OpenFile.open(job.original, O_WRONLY | O_APPEND)
        #expect(try !passes())
        try writer.write(Array("more".utf8))
        try writer.close()
        #expect(try !passes())
    }

    @Test("A batch is full at 8 MiB, though it may have 256 drops")
    func bytes() async throws {
        let drops = 20
        let isFree = DispatchSemaphore(value: 0)
        let scratch = try ScratchFolder()
        let stage = StageEntry.quick(
            { (payload, _) throws(Failure) in payload },
            { (payload, _) in
                isFree.wait()
                return payload
            })
        let engine = try EngineHarness(scratch: scratch, stages: [stage])
        let content = [UInt8](repeating: 7, count: 1 << 20)
        for number in 0..<drops { try engine.drop(try "drop-\(number)".fileName, content) }
        try engine.start()
        // The first batch is at its first drop until all others are seen; they wait for it.
        func claimed() throws -> Int { try scratch.tree(".dropmill/test/active").count { !$0.hasSuffix("/") } }
        let areSeen = try await eventually {
            let (count, waiting) = (try claimed(), await engine.waiting().waiting)
            return count > 0 && count + waiting == drops
        }
        #expect(areSeen)
        let first = try claimed()
        #expect((1...8).contains(first), "\(first) of \(drops) MiB in a batch")
        for _ in 0..<drops { isFree.signal() }
        #expect(await eventually { engine.reports.count == drops })
        _ = await engine.stop()
    }

    @Test("A failed move leaves the turn of renames to others, who need not wait for what may hang")
    func turn() async throws {
        let harness = try SpoolHarness()
        @Sendable func batch(_ jobs: [Job]) throws -> SettlementBatch {
            let settlements = try jobs.map { job in
                var settlement = harness.settlement(of: job, Payload(dropOf: job))
                settlement.known = try FileIdentity.examine(job.original)
                return settlement
            }
            return SettlementBatch(
                settlements, spool: harness.spool, journal: harness.writer, names: NameChooser())
        }
        let gone = try harness.job(), next = try harness.job(), later = try harness.job()
        var failing = try batch([gone, next])
        failing.prepare()
        try Folder.remove(gone.original)
        let outcomes = failing.finish()
        #expect(failing.hasFailedMove)
        guard case .failed = outcomes[0].result, case .settled = outcomes[1].result else {
            Issue.record("\(outcomes.map(\.result))")
            return
        }
        // Somebody has the turn: who moves in turns waits for it, and who has failed does not.
        let isOver = Mutex(false), mayEnd = DispatchSemaphore(value: 0), isHeld = Mutex(false)
        DispatchQueue(label: "holder").async { @Sendable in
            harness.spool.renaming.take {
                isHeld.withLock { $0 = true }
                mayEnd.wait()
            }
        }
        #expect(await eventually { isHeld.withLock { $0 } })
        DispatchQueue(label: "failed").async { @Sendable in
            do {
                var batch = try batch([later])
                batch.prepare()
                batch.hasFailedMove = true
                if case .settled = batch.finish()[0].result { isOver.withLock { $0 = true } }
            } catch {
                Issue.record(error)
            }
        }
        #expect(await eventually { isOver.withLock { $0 } })
        mayEnd.signal()
        #expect(try harness.scratch.tree("processed") == ["drop", "drop.2"])
    }
}
