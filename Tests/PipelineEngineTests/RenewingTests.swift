import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// A sync failed: the kernel may have given up what it could not write, and would call a second sync a success.
@Suite("Renewing") struct RenewingTests {
    private let scratch: ScratchFolder
    private let spool: Spool
    private let writer: JournalWriter
    private let ids = JobIDGenerator()

    init() throws {
        scratch = try ScratchFolder()
        for folder in ["inbox", "processed", "failed", "state"] { try scratch.makeFolder(folder) }
        writer = JournalWriter(journal: try SQLiteJournal.open(writing: scratch.path("state"), durable: false))
        let pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"),
            processed: .folder(scratch.path("processed")), failed: scratch.path("failed"))
        spool = Spool(pipeline: pipeline, work: try WorkFolder(for: pipeline))
    }

    /// A job with these files in its folder.
    private func job(isFolder: Bool = false, _ files: [String: String]) throws -> Job {
        let id = ids.next()
        let drop = Drop(name: try "drop".fileName, size: 3, droppedAt: id.time, isFolder: isFolder)
        let folder = spool.work.folder(of: id)
        for (path, text) in files { _ = try scratch.write(Array(text.utf8), to: folder.pushing(FilePath(path))) }
        return Job(id: id, pipeline: "test", drop: drop, claimedAt: id.time, folder: folder)
    }

    private func lost(_ job: Job) -> Settlement {
        let failure = StageFailure.file("test.bad", "Bad.")
        var record = JobRecord(claimed: job, identity: FileIdentity.of(job.original) ?? .unknown, definition: "")
        for _ in 1...2 { record.lostOutputs(because: .file("io.failed", "The disk failed."), at: .now()) }
        let report = FailureReport(failure, of: job, stage: "fake", attempts: 1, at: .now())
        return Settlement(job: job, record: record, outcome: .failed(failure), report: report)
    }

    @Test("The drop, its marker and the report of a failed job are other files than those whose sync failed")
    func file() throws {
        let job = try job(["drop": "content", ".marker/drop.done": "", ".beside-1-1": "report", ".anew": "left over"])
        let names = ["drop", ".marker/drop.done", ".beside-1-1"]
        let before = try names.map { try Held(job.folder.pushing(FilePath($0))) }
        var batch = SettlementBatch([lost(job)], spool: spool, journal: writer, names: NameChooser())
        batch.settle()
        #expect(try scratch.tree("failed") == ["drop", "drop.done", "drop.error.json"])
        #expect(try scratch.text("failed/drop") == "content")
        let after = ["drop", "drop.done", "drop.error.json"].map { FileIdentity.of(scratch.path("failed/\($0)")) }
        for (old, new) in zip(before, after) { #expect(new != nil && new != old.identity) }
    }

    @Test("Every file of a folder is made anew, with its times and its mode")
    func folder() throws {
        let job = try job(isFolder: true, ["drop/1": "one", "drop/sub/2": "two"])
        let inside = job.original.pushing("sub/2")
        #expect(inside.withPlatformString { chmod($0, 0o640) } == 0)
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 1_000_000, tv_nsec: 5)]
        #expect(inside.withPlatformString { utimensat(AT_FDCWD, $0, times, 0) } == 0)
        let held = try ["1", "sub/2"].map { try Held(job.original.pushing(FilePath($0))) }
        try spool.renewDrop(of: job)
        for file in held { #expect(FileIdentity.of(file.path) != file.identity) }
        let status = try OpenFile.open(inside, O_RDONLY).status()
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(status.st_mtim.tv_sec == 1_000_000)
        #expect(try Folder.names(in: job.folder).map(\.text) == ["drop"])
    }

    @Test("It stays on record until the new files are on the disk, over any number of attempts")
    func onRecord() throws {
        let job = try job(["drop": "content"])
        var settlement = lost(job)
        #expect(settlement.record.mustRenewDrop)
        var batch = SettlementBatch([settlement], spool: spool, journal: writer, names: NameChooser())
        batch.settle()
        settlement = batch.outcomes[0].settlement
        #expect(settlement.record.state == .failed && !settlement.record.mustRenewDrop)
        #expect(settlement.record.history.prefix(3).map(\.event) == ["unsynced", "renewed", "settling"])
        #expect(settlement.record.history.first?.times == 2)
    }

    @Test("Nothing is made anew where no sync failed")
    func notWithoutNeed() throws {
        let job = try job(["drop": "content"])
        let identity = FileIdentity.of(job.original)
        var settlement = lost(job)
        settlement.record.history = []
        var batch = SettlementBatch([settlement], spool: spool, journal: writer, names: NameChooser())
        batch.settle()
        #expect(FileIdentity.of(scratch.path("failed/drop")) == identity)
    }

    /// A file that is held open, so that its inode cannot become another file's.
    private final class Held {
        let path: FilePath
        let identity: FileIdentity?
        private let file: OpenFile

        init(_ path: FilePath) throws {
            self.path = path
            identity = FileIdentity.of(path)
            file = try OpenFile.open(path, O_RDONLY)
        }
    }
}
