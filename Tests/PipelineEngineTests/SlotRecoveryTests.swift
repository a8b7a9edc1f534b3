import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

/// What a start makes of folders that pass from job to job.
@Suite("Recovery of reused folders") struct SlotRecoveryTests {
    private let scratch: ScratchFolder
    private let pipeline: Pipeline
    private let work: WorkFolder
    private let ids = JobIDGenerator()

    private static let killed = RunRecord(boot: "now", process: 1, startedAt: .now())

    init() throws {
        scratch = try ScratchFolder()
        try scratch.makeFolder("inbox")
        pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")), failed: scratch.path("failed"), stages: [.passing])
        work = try WorkFolder(for: pipeline)
    }

    private func reconcile(
        _ records: [JobRecord], _ folders: Recovery.Folders = Recovery.Folders(), deleting: Bool = false
    ) throws -> Recovery.Findings {
        var pipeline = pipeline
        if deleting { pipeline.processed = .delete }
        return try Recovery(of: pipeline, in: work, lastRun: Self.killed, boot: "now").reconcile(records, folders)
    }

    /// A drop in a job's folder, and the job's record.
    private func found(_ name: String) throws -> JobRecord {
        let id = ids.next()
        let drop = Drop(name: try name.fileName, size: 1, droppedAt: id.time)
        let job = Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: work.folder(id))
        try scratch.write(Array("x".utf8), to: job.original)
        return JobRecord(claimed: job, identity: .unknown, definition: pipeline.definition)
    }

    @Test("A drop in the folder of a job that is over is a new claim: another job's, with an id of its own")
    func passedOn() throws {
        let record = try found("a")
        var folders = Recovery.Folders()
        folders.used = [record.id]
        let findings = try reconcile([], folders)
        let job = try #require(findings.adopted.first)
        #expect(job.folder == work.folder(record.id))
        #expect(job.id != record.id && job.slot == record.id)
        #expect(job.drop.name.text == "a")
        // That job is on record from then on, by its folder's name.
        let next = JobRecord(claimed: job, identity: .unknown, definition: pipeline.definition)
        #expect(next.slot == record.id)
        let later = try reconcile([next], folders)
        #expect(later.resumed.map(\.job.folder) == [job.folder])
        #expect(later.adopted.isEmpty)
    }

    @Test("What is in a folder under hidden names without a drop is kept, whoever left it")
    func leftByJobs() throws {
        for isUsed in [true, false] {
            let id = ids.next()
            _ = try scratch.write(Array("half".utf8), to: work.folder(id).pushing(".1-fake/half"))
            var folders = Recovery.Folders()
            if isUsed { folders.used = [id] }
            #expect(try reconcile([], folders).warnings.count == 1)
            #expect(try Folder.names(in: work.active).isEmpty)
            #expect(Folder.kind(of: work.astray.appending(id.text)) != nil)
        }
    }

    @Test("A claim without a record keeps the id that its folder has, where no other job had the folder")
    func keepsItsID() throws {
        let record = try found("a")
        #expect(try reconcile([]).adopted.map(\.id) == [record.id])
    }

    @Test("What an older version left of a job that is over does not run again")
    func leftByAnOlderVersion() throws {
        let record = try found("a")
        var folders = Recovery.Folders()
        folders.used = [record.id]
        var run = Self.killed
        run.hasSlots = false
        let findings = try Recovery(of: pipeline, in: work, lastRun: run, boot: "now").reconcile([], folders)
        #expect(findings.adopted.isEmpty)
        #expect(findings.warnings.count == 1)
        #expect(Folder.kind(of: work.astray.appending(record.id.text).appending("a")) == .regular)
    }

    @Test("A job that was lost and is found again is on record before it goes on")
    func foundAgain() throws {
        var record = try found("a")
        record.lose(because: "gone", at: .now())
        let findings = try reconcile([record.foundAgain])
        #expect(findings.resumed.count == 1)
        #expect(findings.changed.map(\.state) == [.queued])
    }

    @Test("A record that is older than what is in its folder is that of a lost job; what is there is a new claim")
    func olderJournal() throws {
        let record = try found("a")
        try NoReplace.rename(
            work.folder(record.id).appending("a"), to: work.folder(record.id).appending("b"))
        let findings = try reconcile([record])
        #expect(findings.changed.map(\.state) == [.lost])
        #expect(findings.adopted.map(\.drop.name.text) == ["b"])
        #expect(findings.adopted.first?.id != record.id)
    }

    @Test("A deletion that was made but for the journal is over; without one the job is lost")
    func deleted() throws {
        var record = try found("a")
        record.state = .settling
        try Folder.remove(work.folder(record.id).appending("a"))
        #expect(try reconcile([record]).changed.map(\.state) == [.lost])
        try scratch.makeFolder(".dropmill/test/active/\(record.id)")
        // Nor before its claim was on the disk.
        #expect(try reconcile([record], deleting: true).changed.map(\.state) == [.lost])
        try scratch.makeFolder(".dropmill/test/active/\(record.id)")
        record.history += ["settling", "recovered"].map { Transition($0, at: .now()) }
        let findings = try reconcile([record], deleting: true)
        #expect(findings.resumed.map(\.state) == [.settling(.processed)])
    }

    @Test("The folder of a job that was given up is kept aside when it is back")
    func givenUp() throws {
        var record = try found("a")
        record.giveUp(at: .now())
        var folders = Recovery.Folders()
        folders.givenUp = [record.id: record]
        let findings = try reconcile([], folders)
        #expect(findings.adopted.isEmpty)
        #expect(findings.warnings.count == 1)
        let kept = work.astray.appending(record.id.text)
        #expect(try ScratchFolder.read(kept.appending("a")) == Array("x".utf8))
        // A later start takes the work folder for its own, with that in it.
        work.release()
        _ = try WorkFolder(for: pipeline)
    }
}
