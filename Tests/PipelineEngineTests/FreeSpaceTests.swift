import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// `min_free` and the stages of `on_failure`.
@Suite("Free space", .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
struct FreeSpaceTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("Nothing is claimed while a file system that a stage of `on_failure` writes to is nearly full")
    func targets() async throws {
        let small = scratch.path("small")
        var mount: TemporaryMount? = try TemporaryMount(tmpfs: "size=64k", at: small)
        withExtendedLifetime(mount) {}
        let target = PathTemplate(try Template("small/{name}", use: .path), below: scratch.path)
        let stage = FakeStage { (payload, _) throws(Failure) in payload }
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { pipeline in
            pipeline.minFree = ByteSize(bytes: 1 << 20)
            pipeline.onFailure = [StageEntry(kind: "fake", stage: stage, targets: ["to": target])]
        }
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.events.contains { if case .paused = $0 { true } else { false } } })
        let pauses = engine.events.compactMap { if case .paused(_, let failure) = $0 { failure } else { nil } }
        #expect(pauses.first?.code == "space.floor")
        #expect(pauses.first?.summary.contains("'\(small.text)'") == true, "\(pauses)")
        #expect(try scratch.tree("inbox") == ["a"])
        mount = nil
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("processed") == ["a"])
        _ = await engine.stop()
    }

    @Test("A failed job is told of and moved also where less is free: that makes no files, and gives back space")
    func telling() async throws {
        let mount = try TemporaryMount(tmpfs: "size=4m", at: scratch.path("disk"))
        defer { withExtendedLifetime(mount) {} }
        let disk = mount.path
        for folder in ["disk/inbox", "disk/processed", "disk/failed"] { try scratch.makeFolder(folder) }
        let engine = try EngineHarness(
            scratch: scratch,
            stages: [
                .fake { (_, _) throws(Failure) in
                    do throws(IOError) {
                        let ballast = try OpenFile.open(disk.appending("ballast"), O_WRONLY | O_CREAT, mode: 0o600)
                        try ballast.write([UInt8](repeating: 1, count: 3 << 20))
                    } catch {
                        throw Failure(inStage: error)
                    }
                    throw .file("bad", "It is bad.")
                }
            ]
        ) { pipeline in
            pipeline.inbox = disk.appending("inbox")
            pipeline.processed = .folder(disk.appending("processed"))
            pipeline.failed = disk.appending("failed")
            pipeline.minFree = ByteSize(bytes: 2 << 20)
            pipeline.onFailure = [.passing]
        }
        try engine.start()
        try engine.dropHere("a")
        #expect(await eventually { engine.reports.count == 1 })
        let started = engine.events.count { if case .stageStarted = $0 { true } else { false } }
        #expect(started == 2, "the stage, and the one that tells of its failure")
        #expect(try scratch.tree("disk/failed") == ["a", "a.error.json"])
        _ = await engine.stop()
    }
}
