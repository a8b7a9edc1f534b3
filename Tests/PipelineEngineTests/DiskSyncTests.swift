import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

@Suite("Durability") struct DurabilityTests {
    private let harness: SpoolHarness
    private var scratch: ScratchFolder { harness.scratch }

    init() throws { harness = try SpoolHarness() }

    private func makeFIFO(_ path: FilePath) { #expect(path.withPlatformString { mkfifo($0, 0o600) } == 0) }

    @Test("What may not be opened is brought to the disk with all others")
    func closed() throws {
        try scratch.link("link", to: "/etc/passwd")
        try scratch.write("x", to: "file")
        let files = [scratch.path("link"), scratch.path("gone"), scratch.path("file")]
        try harness.spool.diskSync.sync(files: files, by: harness.spool.work.whole)
    }

    @Test(
        "A file system that died after the renames is told of", .enabled(if: DiskImage.isXFSPossible, "needs mkfs.xfs"),
        arguments: [false, true])
    func dead(isOwn: Bool) throws {
        let disk = try DiskImage(xfs: scratch.path("disk"))
        let folder = disk.path.appending("folder")
        try Folder.make(folder)
        let whole = try FileSystemSync(of: isOwn ? disk.path : scratch.path)
        let durability = DiskSync(.full)
        try durability.sync(folders: [folder], by: whole)
        try scratch.write(Array("x".utf8), to: folder.appending("a"))
        try NoReplace.rename(folder.appending("a"), to: folder.appending("b"))
        try disk.shutDown()
        #expect(throws: IOError.self) { try durability.sync(folders: [folder], by: whole) }
    }

    @Test(
        "A file system that died is told of although it lost writes before",
        .enabled(if: DiskImage.isXFSPossible, "needs mkfs.xfs"))
    func deadForLong() throws {
        let disk = try DiskImage(xfs: scratch.path("disk"))
        let whole = try FileSystemSync(of: disk.path)
        try scratch.write(Array("x".utf8), to: disk.path.appending("a"))
        try disk.shutDown()
        #expect(throws: IOError.self) { try whole.sync() }
        #expect(whole.hasLostWrites)
        #expect(throws: IOError.self) { try DiskSync(.full).sync(folders: [disk.path], by: whole) }
    }

    @Test("What cannot be synced is held against its own job alone")
    func blame() throws {
        try scratch.write("x", to: "file")
        makeFIFO(scratch.path("fifo"))
        let jobs = ["file", "fifo", "file"].map { DiskSync.Unsynced(files: [scratch.path($0)]) }
        let errors = harness.spool.diskSync.sync(jobs, by: harness.spool.work.whole)
        #expect(errors.map { $0?.action } == [nil, "sync", nil])
    }

    @Test("What failed is not looked into, whatever it is by then")
    func failed() throws {
        let job = try harness.job([:])
        try Folder.make(job.folder)
        makeFIFO(job.original)
        let (_, result) = harness.settle(harness.settlement(of: job, nil, .failed(.file("test.bad", "Bad."))))
        guard case .settled = result else { throw Unsettled(result: result) }
        #expect(try scratch.tree("failed").contains("drop.error.json"))
        #expect(Folder.kind(of: scratch.path("failed/drop")) == .special)
    }

    private struct Unsettled: Error { let result: Settlement.Result }
}
