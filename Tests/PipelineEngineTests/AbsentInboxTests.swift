import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import PipelineEngine

/// Inboxes whose file system goes away or tells nothing, with the whole engine behind them.
@Suite("Absent and silent inboxes", .timeLimit(.minutes(5)), .serialized) struct AbsentInboxTests {
    private func codes(_ engine: EngineHarness) -> [String] {
        engine.events.compactMap { if case .paused(_, let failure) = $0 { failure.code } else { nil } }
    }

    private func resumptions(_ engine: EngineHarness) -> Int {
        engine.events.count { if case .resumed = $0 { true } else { false } }
    }

    @Test("An inbox that is deleted pauses the pipeline, once; made anew, it goes on")
    func deleted() async throws {
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [.passing])
        try engine.start()
        try engine.drop("before")
        #expect(await eventually { engine.reports.count == 1 })
        try Folder.remove(engine.pipeline.inbox)
        #expect(await eventually { codes(engine) == ["inbox.gone"] })
        // Probes that fail are told neither as trouble nor as its end.
        #expect(await eventually { engine.pauseBeforeProbe > JobMachine.Pause.firstDelay })
        #expect(resumptions(engine) == 0)
        try Folder.make(engine.pipeline.inbox)
        try engine.drop("after")
        #expect(await eventually { engine.reports.count == 2 })
        #expect(codes(engine) == ["inbox.gone"])
        #expect(resumptions(engine) == 1)
        _ = await engine.stop()
    }

    @Test(
        "A mount that goes leaves an empty folder, which is not read as an empty inbox; when it is back all goes on",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"), arguments: ["disk", "disk/inbox"])
    func remount(mountPoint: String) async throws {
        let scratch = try ScratchFolder()
        let real = try scratch.makeFolder("real")
        if mountPoint == "disk" { try scratch.makeFolder("real/inbox") }
        try scratch.makeFolder("disk/inbox")
        var mount: TemporaryMount? = try TemporaryMount(bind: real, at: scratch.path(mountPoint))
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { pipeline in
            pipeline.inbox = scratch.path("disk/inbox")
            pipeline.match.depth = 2
            pipeline.ready = ReadyRule(quiet: .seconds(2))
        }
        try engine.start()
        // Seen, but not complete yet when the mount goes; what is dropped behind its back is found afterwards.
        try engine.dropHere("waiting")
        #expect(await eventually { engine.events.count > 0 })
        mount = nil
        #expect(await eventually { codes(engine).count == 1 })
        try scratch.write("x", to: mountPoint == "disk" ? "real/inbox/sub/meanwhile" : "real/sub/meanwhile")
        mount = try TemporaryMount(bind: real, at: scratch.path(mountPoint))
        #expect(await eventually(within: .seconds(40)) { engine.reports.count == 2 })
        #expect(Set(engine.reports.map(\.job.drop.path.text)) == ["waiting", "sub/meanwhile"])
        #expect(codes(engine).count == 1)
        _ = await engine.stop()
        withExtendedLifetime(mount) {}
    }

    @Test(
        "Another file system over the inbox is not taken for it",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func covered() async throws {
        let scratch = try ScratchFolder()
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.start()
        var mount: TemporaryMount? = try TemporaryMount(tmpfs: "size=1m", at: engine.pipeline.inbox)
        try scratch.write("x", to: "inbox/stranger")
        #expect(await eventually { codes(engine) == ["inbox.away"] })
        #expect(engine.reports.isEmpty)
        mount = nil
        try engine.drop("own")
        #expect(await eventually { engine.reports.map(\.job.drop.name.text) == ["own"] })
        _ = await engine.stop()
        withExtendedLifetime(mount) {}
    }

    @Test(
        "On a FUSE file system that tells of nothing it polls, says so, and takes what appears behind it",
        .enabled(if: MirrorMount.isPossible, Comment(rawValue: MirrorMount.skip)))
    func silent() async throws {
        let scratch = try ScratchFolder()
        try scratch.makeFolder("behind/inbox")
        let mirror = try MirrorMount(of: scratch.path("behind"), at: try scratch.makeFolder("mirror"))
        defer { withExtendedLifetime(mirror) {} }
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { pipeline in
            pipeline.inbox = mirror.path.pushing("inbox")
            pipeline.match.depth = .max
        }
        try engine.start()
        try scratch.write("x", to: "behind/inbox/a")
        try scratch.write("x", to: "behind/inbox/b/c/d")
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try scratch.tree("processed") == ["a", "b/", "b/c/", "b/c/d"])
        let modes = engine.events.compactMap { event in
            if case .watching(_, let mode, let reason) = event { (mode, reason) } else { nil }
        }
        #expect(modes.map { $0.0 } == [.polling(every: .seconds(2))])
        #expect(modes.first?.1.contains("FUSE") == true)
        #expect(ReadyRule().holding(in: engine.pipeline.inbox).quiet == .seconds(10))
        #expect(ReadyRule().holding(in: scratch.path).quiet == .seconds(1))
        _ = await engine.stop()
    }

    @Test("Drops are claimed in the order that was asked for, and only so many bytes at once")
    func orderAndBytes() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [gate.entry]) { pipeline in
            pipeline.order = .largest
            pipeline.activeBytes = ByteSize(bytes: 50)
        }
        try engine.start()
        // All others are complete before one of them can be claimed.
        try engine.drop("n50", String(repeating: "x", count: 50))
        #expect(await eventually { engine.claimed.count == 1 })
        for size in [10, 40, 20, 60, 30] {
            try engine.drop("n\(size)", String(repeating: "x", count: size))
            #expect(await eventually { await engine.waiting(for: "n\(size)")?.waiting == .room })
        }
        gate.open()
        #expect(await eventually { engine.reports.count == 6 })
        let claimed = engine.claimed.map(\.drop.name.text)
        #expect(claimed == ["n50", "n60", "n40", "n30", "n20", "n10"])
        var active: Int64 = 0
        for event in engine.events {
            switch event {
            case .claimed(let job, _):
                #expect(active == 0 || active + job.drop.size <= 50)
                active += job.drop.size
            case .settled(let report): active -= report.job.drop.size
            default: break
            }
        }
        _ = await engine.stop()
    }
}
