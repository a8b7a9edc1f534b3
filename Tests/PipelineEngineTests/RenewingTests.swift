import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// A sync failed: the kernel may have given up what it could not write, and would call a second sync a success.
@Suite("Renewing") struct RenewingTests {
    private let harness: SpoolHarness
    private var scratch: ScratchFolder { harness.scratch }

    init() throws { harness = try SpoolHarness() }

    private func lost(_ job: Job) -> Settlement {
        var settlement = harness.settlement(of: job, nil, .failed(.file("test.bad", "Bad.")))
        for _ in 1...2 { settlement.record.lostOutputs(because: .file("io.failed", "The disk failed."), at: .now()) }
        return settlement
    }

    @Test("The drop, its marker and the report of a failed job are other files than those whose sync failed")
    func file() throws {
        let job = try harness.job([
            "drop": "content", ".marker/drop.done": "", ".beside-1-1": "report", ".anew": "left over",
        ])
        let names = ["drop", ".marker/drop.done", ".beside-1-1"]
        let before = try names.map { try Held(job.folder.pushing(FilePath($0))) }
        _ = harness.settle(lost(job))
        #expect(try scratch.tree("failed") == ["drop", "drop.done", "drop.error.json"])
        #expect(try scratch.text("failed/drop") == "content")
        let after = ["drop", "drop.done", "drop.error.json"].map { FileIdentity.of(scratch.path("failed/\($0)")) }
        for (old, new) in zip(before, after) { #expect(new != nil && new != old.identity) }
    }

    @Test("Every file of a folder is made anew, with its times and its mode")
    func folder() throws {
        let job = try harness.job(isFolder: true, ["drop/1": "one", "drop/sub/2": "two"])
        let inside = job.original.pushing("sub/2")
        #expect(inside.withPlatformString { chmod($0, 0o640) } == 0)
        let times = [timespec(tv_sec: 1_000_000, tv_nsec: 5), timespec(tv_sec: 1_000_000, tv_nsec: 5)]
        #expect(inside.withPlatformString { utimensat(AT_FDCWD, $0, times, 0) } == 0)
        let held = try ["1", "sub/2"].map { try Held(job.original.pushing(FilePath($0))) }
        var seal: Seal?
        try harness.spool.renewDrop(of: job, &seal)
        for file in held { #expect(FileIdentity.of(file.path) != file.identity) }
        let status = try OpenFile.open(inside, O_RDONLY).status()
        #expect(status.st_mode & 0o777 == 0o640)
        #expect(status.st_mtim.tv_sec == 1_000_000)
        #expect(try Folder.names(in: job.folder).map(\.text) == ["drop"])
    }

    @Test("It stays on record until the new files are on the disk, over any number of attempts")
    func onRecord() throws {
        let job = try harness.job(["drop": "content"])
        var settlement = lost(job)
        #expect(settlement.record.mustRenewDrop)
        settlement = harness.settle(settlement).settlement
        #expect(settlement.record.state == .failed && !settlement.record.mustRenewDrop)
        #expect(settlement.record.history.prefix(3).map(\.event) == ["unsynced", "renewed", "settling"])
        #expect(settlement.record.history.first?.times == 2)
    }

    @Test("Nothing is made anew where no sync failed")
    func notWithoutNeed() throws {
        let job = try harness.job(["drop": "content"])
        let identity = FileIdentity.of(job.original)
        var settlement = lost(job)
        settlement.record.history = []
        _ = harness.settle(settlement)
        #expect(FileIdentity.of(scratch.path("failed/drop")) == identity)
    }

    @Test("A drop that stays its sender's is not changed by being made anew, over any number of attempts")
    func sealed() throws {
        let job = try harness.job(isFolder: true, ["drop/1": "one", "drop/sub/2": "two"])
        var settlement = lost(job)
        settlement = Settlement(
            job: job, record: settlement.record, outcome: .processed, report: nil, seal: try Seal(of: job))
        let processed = scratch.path("processed")
        try Folder.remove(processed)
        for _ in 1...2 {
            let (again, result) = harness.settle(settlement)
            guard case .failed(let failure) = result else { throw NotAName() }
            #expect(failure.class == .environment, "\(failure)")
            settlement = again
            // As an attempt that did not get as far as its intents.
            settlement.record.intents = []
            settlement.record.history = lost(job).record.history
        }
        try Folder.make(processed)
        _ = harness.settle(settlement)
        #expect(try scratch.tree("processed") == ["drop/", "drop/1", "drop/sub/", "drop/sub/2"])
    }

    @Test("What its sender changed before it was made anew stays changed")
    func sealedAndChanged() throws {
        let job = try harness.job(["drop": "content"])
        var seal: Seal? = try Seal(of: job)
        try scratch.write(Array("forged!".utf8), to: job.original)
        try harness.spool.renewDrop(of: job, &seal)
        #expect(try seal?.broken(by: job) == "drop")
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
