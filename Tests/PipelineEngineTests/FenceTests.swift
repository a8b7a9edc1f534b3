import Files
import Glibc
import Journal
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Jobs that another node takes over while they are at work here: the journal says so when something is to be written.
@Suite("Fence", .timeLimit(.minutes(5))) struct FenceTests {
    private let scratch: ScratchFolder
    private let store = MemoryStore()

    init() throws { scratch = try ScratchFolder() }

    /// Whose names begin with "theirs" are fenced once that is to be written.
    private func fence(_ states: JobRecord.State...) {
        store.journal.contents.withLock { contents in
            contents.isFenced = { $0.drop.name.text.hasPrefix("theirs") && states.contains($0.state) }
        }
    }

    private var records: [JobRecord] { store.journal.contents.withLock { Array($0.jobs.values) } }

    /// What is in the jobs' folders, by the names of the files.
    private func claimed() throws -> [String: String] {
        let files = try scratch.tree(".dropmill/test/active").filter { !$0.hasSuffix("/") }
        return try files.reduce(into: [:]) { contents, path in
            contents[String(path.split(separator: "/").last ?? "")] = try scratch.text(".dropmill/test/active/\(path)")
        }
    }

    private static let lane = StageEntry.quick(
        { (payload, _) throws(Failure) in payload }, { (payload, _) in payload })

    @Test(
        "No rename is made of a fenced job, nothing is written of it, its folder stays; others of the batch go on",
        arguments: [true, false], [Durability.full, .fast])
    func intents(isQuick: Bool, durability: Durability) async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [isQuick ? Self.lane : .passing]) {
            $0.durability = durability
        }
        fence(.settling)
        for number in 0..<10 {
            try engine.drop("own-\(number)", "own")
            try engine.drop("theirs-\(number)", "content \(number)")
        }
        try engine.start(once: true, journal: store)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 10)
        #expect(engine.summary?.failed == 0)
        #expect(try scratch.tree("processed") == (0..<10).map { "own-\($0)" })
        #expect(try scratch.tree("failed") == [])
        #expect(
            try claimed() == Dictionary(uniqueKeysWithValues: (0..<10).map { ("theirs-\($0)", "content \($0)") }))
        #expect(engine.reports.allSatisfy { $0.job.drop.name.text.hasPrefix("own") })
        let theirs = records.filter { $0.drop.name.text.hasPrefix("theirs") }
        #expect(theirs.allSatisfy { $0.state == .queued && $0.intents.isEmpty })
        #expect(engine.warnings.contains { $0.contains("taken over by another node") })
    }

    @Test(
        "One that is fenced at its end is not told as over, and its folder is given to no other",
        arguments: [true, false])
    func ends(isQuick: Bool) async throws {
        let engine = try EngineHarness(scratch: scratch, stages: [isQuick ? Self.lane : .passing])
        fence(.processed)
        for name in ["own", "theirs"] { try engine.drop(name) }
        try engine.start(once: true, journal: store)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 1)
        #expect(engine.reports.map(\.job.drop.name.text) == ["own"])
        // Its intents were on record while it was ours.
        #expect(try scratch.tree("processed") == ["own", "theirs"])
        let their = try #require(records.first { $0.drop.name.text == "theirs" })
        #expect(their.state == .settling)
        #expect(Folder.kind(of: scratch.path(".dropmill/test/active").appending(their.folder.text)) == .folder)
    }

    @Test("The stage of a fenced job is called off, what it made stays, and its worker goes on with others")
    func running() async throws {
        let ways = Mutex<[String]>([])
        let stage = StageEntry.fake { (payload, context) throws(Failure) in
            guard context.job.drop.name.text == "theirs" else { return payload }
            let folder = try context.makeScratch()
            do throws(IOError) { try Folder.make(folder.appending("made")) } catch { throw Failure(inStage: error) }
            while !context.work.cancellation.isCancelled {}
            ways.withLock { $0.append("called off") }
            throw .cancelled
        }
        let engine = try EngineHarness(scratch: scratch, stages: [stage])
        fence(.running)
        try engine.drop("theirs", "content")
        try engine.start(journal: store)
        #expect(await eventually { ways.withLock { $0 } == ["called off"] })
        try engine.drop("own")
        #expect(await eventually { engine.reports.map(\.job.drop.name.text) == ["own"] })
        #expect(try claimed()["theirs"] == "content")
        #expect(try scratch.tree(".dropmill/test/active").contains { $0.hasSuffix("/made/") })
        #expect(await engine.stop()?.failed == 0)
        #expect(records.filter { $0.drop.name.text == "theirs" }.allSatisfy { $0.state == .queued })
    }

    @Test("Nothing is moved once the lease may be over, whatever intents are on record", arguments: [1, 2, 3])
    func leaseIsOver(asked: Int) throws {
        let harness = try SpoolHarness()
        let job = try harness.job()
        var batch = SettlementBatch(
            [harness.settlement(of: job)], spool: harness.spool, journal: JournalWriter(journal: store.journal),
            names: NameChooser())
        batch.prepare()
        let asks = Mutex(0)
        let (scratch, isTaken) = (harness.scratch, asked == 3)
        store.journal.contents.withLock { contents in
            // Before the first move, before that of this job, and before it is moved to another name.
            contents.mayAct = {
                asks.withLock { count in
                    count += 1
                    return count < asked
                }
            }
            // Another one has the name by the time that it is moved there.
            contents.whileWriting = { if isTaken { _ = try? scratch.write("other", to: "processed/drop") } }
        }
        guard case .failed(let failure) = try #require(batch.finish().first).result else {
            Issue.record("it is moved")
            return
        }
        #expect(failure.code == "journal.away")
        #expect(try scratch.tree("processed") == (isTaken ? ["drop"] : []))
        #expect(try scratch.text(".dropmill/test/active/\(job.folder.lastName?.text ?? "")/drop") == "content")
    }

    @Test(
        "What lies beside a drop is taken back where the drop cannot follow, but not by one that is fenced",
        arguments: [true, false])
    func takingBack(isFenced: Bool) throws {
        let harness = try SpoolHarness()
        let job = try harness.job()
        var payload = Payload(dropOf: job)
        payload.sidecars = [Sidecar(suffix: ".sha256", parts: [.text("digest")])]
        var settlement = harness.settlement(of: job, payload)
        settlement.known = try FileIdentity.examine(job.original)
        var batch = SettlementBatch(
            [settlement], spool: harness.spool, journal: JournalWriter(journal: store.journal), names: NameChooser())
        batch.prepare()
        // The node that takes it over has the drop, once the intents are on record here.
        try Folder.remove(job.original)
        let writes = Mutex(0)
        store.journal.contents.withLock { contents in
            contents.isFenced = { _ in
                isFenced
                    && writes.withLock { count in
                        count += 1
                        return count > 1
                    }
            }
        }
        let result = try #require(batch.finish().first).result
        if case .fenced = result { #expect(isFenced) } else { #expect(!isFenced, "\(result)") }
        #expect(try harness.scratch.tree("processed") == (isFenced ? ["drop.sha256"] : []))
    }
}
