import Dispatch
import Files
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// A spool over a scratch folder, with jobs whose folders a test fills itself.
struct SpoolHarness {
    let scratch: ScratchFolder
    let spool: Spool
    let writer: JournalWriter
    private let ids = JobIDGenerator()

    init(_ adjust: (inout Pipeline, ScratchFolder) throws -> Void = { _, _ in }) throws {
        scratch = try ScratchFolder()
        for folder in ["inbox", "processed", "failed", "state"] { try scratch.makeFolder(folder) }
        writer = JournalWriter(journal: try SQLiteJournal.open(writing: scratch.path("state"), durable: false))
        var pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")), failed: scratch.path("failed"),
            stages: [try .publishing(below: scratch.path)])
        try adjust(&pipeline, scratch)
        spool = Spool(pipeline: pipeline, work: try WorkFolder(for: pipeline))
    }

    /// A job with these files in its folder; `drop` is what was dropped.
    func job(isFolder: Bool = false, _ files: [String: String] = ["drop": "content"]) throws -> Job {
        let id = ids.next()
        let drop = Drop(name: try "drop".fileName, size: 3, droppedAt: id.time, isFolder: isFolder)
        let folder = spool.work.folder(id)
        for (path, text) in files { _ = try scratch.write(Array(text.utf8), to: folder.pushing(FilePath(path))) }
        return Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: folder)
    }

    /// Its settlement, with what its stages made.
    func settlement(
        of job: Job, _ payload: Payload? = nil, _ outcome: JobState.Outcome = .processed
    ) -> Settlement {
        var record = JobRecord(claimed: job, identity: FileIdentity.of(job.original) ?? .unknown, definition: "")
        record.payload = payload
        var report: FailureReport?
        if case .failed(let failure) = outcome {
            report = FailureReport(failure, of: job, stage: "fake", attempts: 1, at: .now())
        }
        return Settlement(job: job, record: record, outcome: outcome, report: report)
    }

    /// Settles one job.
    func settle(_ settlement: Settlement) -> Settler.Outcome { settleAndTell(settlement).outcome }

    /// The same, with what is said of it.
    func settleAndTell(_ settlement: Settlement) -> (outcome: Settler.Outcome, warnings: [String]) {
        var batch = SettlementBatch([settlement], spool: spool, journal: writer, names: NameChooser())
        return (batch.settle()[0], batch.warnings)
    }
}

extension SettlementBatch {
    /// From the beginning to the end, by itself.
    mutating func settle() -> [Settler.Outcome] {
        prepare()
        return finish()
    }

    /// What comes after `prepare`.
    mutating func finish() -> [Settler.Outcome] {
        let found = Mutex<[Settler.Outcome]>([])
        let isOver = DispatchSemaphore(value: 0)
        execute()
        syncFolders()
        end { outcomes in
            found.withLock { $0 = outcomes }
            isOver.signal()
        }
        isOver.wait()
        return found.withLock { $0 }
    }
}
