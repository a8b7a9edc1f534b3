import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// Starts with a state folder that is not as the last run left it.
@Suite("Start", .timeLimit(.minutes(5))) struct StartTests {
    private let scratch: ScratchFolder
    private var state: FilePath { scratch.path("state") }

    init() throws { scratch = try ScratchFolder() }

    private func harness(_ adjust: (inout Pipeline) -> Void = { _ in }) throws -> EngineHarness {
        try EngineHarness(scratch: scratch, stages: [try .publishing(below: scratch.path("output"))], adjust: adjust)
    }

    /// A job folder with its drop, of which no journal knows.
    private func leave(_ name: String) throws -> JobID {
        let id = JobIDGenerator().next()
        let work = try WorkFolder(for: harness().pipeline)
        try scratch.write(Array("x".utf8), to: work.folder(id).appending(try name.fileName))
        work.release()
        return id
    }

    @Test(
        "A journal that was damaged after an orderly end is set aside, and every job is kept",
        arguments: ["jobs_unfinished", "sqlite_autoindex_jobs_1", ""])
    func damaged(index: String) async throws {
        let first = try harness()
        try first.start(once: true)
        #expect(await eventually { first.summary != nil })
        if index.isEmpty {
            try SQLiteJournal.markDamaged(in: state)
        } else {
            try DamagedJournal.overwrite(rootOf: index, in: state)
        }
        _ = try leave("a.txt")
        let second = try harness()
        try second.start(once: true)
        #expect(await eventually { second.summary != nil })
        #expect(second.summary?.processed == 1)
        let told = second.warnings
        #expect(told.contains { $0.contains(". It was moved aside to '\(state.text)/journal.corrupt-") }, "\(told)")
        let third = try harness()
        try third.start(once: true)
        #expect(await eventually { third.summary != nil })
        #expect(third.warnings == [])
    }

    @Test("A journal that is gone is said loudly where there are jobs, and only there")
    func journalIsGone() async throws {
        let first = try harness()
        try first.start(once: true)
        #expect(await eventually { first.summary != nil })
        #expect(first.warnings == [])
        try Folder.remove(state)
        _ = try leave("a.txt")
        let second = try harness()
        try second.start(once: true)
        #expect(await eventually { second.summary != nil })
        #expect(second.summary?.processed == 1)
        let told = second.warnings
        #expect(told.count == 1)
        #expect(told.first?.hasPrefix("the journal is new or was lost, but 1 job was found") == true, "\(told)")
    }

    @Test(
        "A full disk at the start is told with what is to be done, and as nothing that passes by itself",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func fullDisk() async throws {
        let mount = try TemporaryMount(tmpfs: "size=512k,mode=700", at: state)
        let ballast = mount.path.appending("ballast")
        let file = try OpenFile.open(ballast, O_WRONLY | O_CREAT, mode: 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(file.descriptor, block, block.count) > 0 {}
        try file.close()
        let engine = try harness()
        let error = #expect(throws: EngineError.self) { try engine.start() }
        #expect(error?.message.contains("Free space on its file system.") == true, "\(error?.message ?? "")")
        #expect(error?.message.hasSuffix("Dropmill has not started; start it again afterwards.") == true)
        #expect(error?.message.contains("by itself") == false)
        try Folder.remove(ballast)
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
    }

    @Test("A quarantined settlement is counted while it lasts only")
    func countsSettlement() async throws {
        let id = try leave("a.txt")
        // With two attempts one recovery quarantines a job.
        let engine = try harness { $0.retry = RetryPolicy(attempts: 2) }
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        let journal = try SQLiteJournal.open(reading: state)
        defer { journal.close() }
        let record = try #require(try journal.job(id))
        #expect(record.state == .processed)
        #expect(record.recoveries == 1)
    }

    @Test("A job that settlement cannot survive is left alone, and all others go on")
    func parks() async throws {
        let poison = try leave("poison.txt")
        _ = try leave("other.txt")
        let source = try folder(of: poison).appending("poison.txt".fileName)
        try record(poison, "poison.txt") { record in
            record.state = .settling
            record.recoveries = Recovery.settlementLimit
            record.intents = [
                Intent(
                    role: .original, source: source, target: scratch.path("processed/poison.txt"), identity: .unknown)
            ]
        }
        let engine = try harness()
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 1)
        #expect(engine.summary?.unfinished == 1)
        #expect(Folder.kind(of: source) == .regular)
        let place = source.removingLastComponent().text
        #expect(engine.warnings.contains { $0.contains("it is left alone in '\(place)'") })
    }

    @Test("A job that was lost goes on where it was, once its folder is there again")
    func foundAgain() async throws {
        let id = try leave("a.txt")
        let folder = try folder(of: id)
        let made = folder.appending(".1-fake/made")
        let published = try scratch.write(Array("made".utf8), to: scratch.path("output/made"))
        try record(id, "a.txt") { record in
            record.state = .lost
            record.finishedAt = .now()
            record.payload = Payload(file: try "made".fileName, in: folder.appending(".1-fake"))
            record.payload?.destination = scratch.path("output")
            record.intents = [
                Intent(
                    role: .output, source: made, target: published,
                    identity: FileIdentity.of(published) ?? .unknown),
                Intent(
                    role: .original, source: folder.appending(try "a.txt".fileName),
                    target: scratch.path("processed/a.txt"),
                    identity: FileIdentity.of(folder.appending(try "a.txt".fileName)) ?? .unknown),
            ]
        }
        let engine = try harness()
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 1)
        let journal = try SQLiteJournal.open(reading: state)
        defer { journal.close() }
        let record = try #require(try journal.job(id))
        #expect(record.state == .processed)
        #expect(record.outputs == [published])
        #expect(record.history.first?.event == "found again")
        #expect(try scratch.tree("output") == ["made"])
        #expect(try scratch.tree("processed") == ["a.txt"])
    }

    @Test("A job that was forgotten stays so: its folder is kept where nobody works, once it is there again")
    func forgotten() async throws {
        let id = try leave("a.txt")
        let work = try folder(of: id).removingLastComponent().removingLastComponent()
        try record(id, "a.txt") { $0.giveUp(at: .now()) }
        for number in 1...2 {
            let engine = try harness()
            try engine.start(once: true)
            #expect(await eventually { engine.summary != nil })
            #expect(engine.summary?.processed == 0)
            let kept = work.appending("astray").appending(id.text)
            #expect(Folder.kind(of: kept.appending("a.txt")) == .regular)
            #expect(engine.warnings.count { $0.contains("was given up: it is kept in '\(kept.text)'") } == 2 - number)
        }
        let journal = try SQLiteJournal.open(reading: state)
        defer { journal.close() }
        #expect(try journal.job(id)?.state == .lost)
        #expect(try scratch.tree("processed") == [])
    }

    private func folder(of id: JobID) throws -> FilePath {
        try WorkFolder.path(for: harness().pipeline).appending("active").appending(id.text)
    }

    /// Writes a record of a job that was left, into a journal of an earlier run.
    private func record(
        _ id: JobID, _ name: String, boot: String = "b", _ change: (inout JobRecord) throws -> Void
    ) throws {
        try Folder.make(state, mode: 0o700)
        let journal = try SQLiteJournal.open(writing: state, durable: false)
        defer { journal.close() }
        _ = try journal.beginRun(RunRecord(boot: boot, process: 1, startedAt: .now()))
        let drop = Drop(name: try name.fileName, size: 1, droppedAt: id.time)
        let job = Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: try folder(of: id))
        var record = JobRecord(claimed: job, identity: .unknown, definition: try harness().pipeline.definition)
        try change(&record)
        try journal.write([record], pipelines: [])
    }
}
