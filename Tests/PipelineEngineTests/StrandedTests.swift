@preconcurrency import Dispatch
import Files
import PipelineKit
import SQLiteJournal
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// Work folders that are gone, or somewhere else than before: every job ends, or it is said what it waits for.
@Suite("Stranded jobs", .timeLimit(.minutes(5))) struct StrandedTests {
    @Test(
        "A work folder that somebody removed is made again, while the daemon runs; so is the one in it for jobs",
        arguments: [".dropmill", ".dropmill/test/active"])
    func remade(folder: String) async throws {
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [.passing])
        try engine.start()
        try engine.drop("before")
        #expect(await eventually { engine.reports.count == 1 })
        try Folder.remove(engine.scratch.path(folder))
        try engine.drop("after")
        #expect(await eventually { engine.reports.count == 2 })
        #expect(engine.warnings.contains { $0.contains("was gone and has been created again") })
        let rival = EngineHarness.locked(engine.pipeline)
        #expect(rival, "the new one is locked as the old one was")
        _ = await engine.stop()
    }

    @Test("Jobs whose folders went with it are lost, and told; the others go on")
    func lost() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [gate.entry])
        try engine.start()
        for name in ["a", "b", "c"] { try engine.drop(name) }
        let claimed = await eventually { engine.events.count { if case .claimed = $0 { true } else { false } } == 3 }
        #expect(claimed)
        try Folder.remove(engine.scratch.path(".dropmill"))
        gate.open()
        try engine.drop("after")
        #expect(await eventually { engine.reports.count == 1 }, "\(engine.warnings)")
        #expect(await eventually { engine.warnings.count { $0.contains("is lost") } == 3 }, "\(engine.warnings)")
        #expect(await engine.stop()?.unfinished == 0)
        #expect(try engine.scratch.jobStates() == [.lost: 3, .processed: 1])
    }

    @Test(
        "Where a work folder is put back whose jobs were given up, that is told, and the next start goes on with them")
    func putBack() async throws {
        let gate = Gate()
        let engine = try EngineHarness(scratch: try ScratchFolder(), stages: [gate.entry])
        try engine.start()
        try engine.drop("a")
        #expect(await eventually { engine.claimed.count == 1 })
        let (work, aside) = (engine.scratch.path(".dropmill"), engine.scratch.path("aside"))
        try NoReplace.rename(work, to: aside)
        gate.open()
        #expect(await eventually { engine.warnings.contains { $0.contains("is lost") } }, "\(engine.warnings)")
        try Folder.remove(work)
        try NoReplace.rename(aside, to: work)
        try engine.drop("b")
        #expect(
            await eventually { engine.warnings.contains { $0.contains("holds 1 unprocessed job") } },
            "\(engine.warnings)")
        #expect(await eventually { engine.reports.count == 1 })
        _ = await engine.stop()
        let next = try EngineHarness(scratch: engine.scratch, stages: [.passing])
        try next.start(once: true)
        #expect(await eventually { next.summary != nil })
        #expect(try engine.scratch.jobStates() == [.processed: 2])
    }

    /// Runs until so many drops are claimed, and stops with them unfinished.
    private func leave(_ count: Int, in scratch: ScratchFolder, _ adjust: (inout Pipeline) -> Void = { _ in })
        async throws
    {
        let engine = try EngineHarness(scratch: scratch, stages: [Gate().entry], adjust: adjust)
        try engine.start()
        for number in 1...count { try engine.drop("drop-\(number)") }
        let claimed = await eventually {
            engine.events.count { if case .claimed = $0 { true } else { false } } == count
        }
        #expect(claimed)
        #expect(await engine.stop(grace: .zero)?.unfinished == count)
    }

    @Test("Removed while no daemon runs: the inbox is the one that it was, so it is gone and not away")
    func gone() async throws {
        let scratch = try ScratchFolder()
        try await leave(2, in: scratch)
        try Folder.remove(scratch.path(".dropmill"))
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.start()
        try engine.drop("after")
        #expect(await eventually { engine.reports.count == 1 })
        _ = await engine.stop()
        #expect(try scratch.jobStates() == [.lost: 2, .processed: 1])
    }

    @Test("With another inbox in its place it may be away: the jobs are left, and it is said where they were")
    func away() async throws {
        let scratch = try ScratchFolder()
        try await leave(2, in: scratch)
        // As an empty folder that something was mounted on.
        for name in [".dropmill", "inbox"] {
            try NoReplace.rename(scratch.path(name), to: scratch.path("\(name)-away"))
        }
        let place = scratch.path(".dropmill/test").string
        // Again and again, as by a service manager: what was made here meanwhile is not what was there.
        for number in 1...3 {
            let engine = try EngineHarness(scratch: scratch, stages: [.passing])
            try engine.start()
            let told = await eventually {
                engine.warnings.contains {
                    $0.contains("2 jobs stay as they are") && $0.contains("in '\(place)'. ")
                }
            }
            #expect(told, "\(engine.warnings)")
            try engine.drop("here-\(number)")
            #expect(await eventually { engine.reports.count == 1 })
            #expect(await engine.stop()?.unfinished == 2)
        }
        try Folder.remove(scratch.path(".dropmill"))
        try Folder.remove(scratch.path("inbox"))
        for name in [".dropmill", "inbox"] {
            try NoReplace.rename(scratch.path("\(name)-away"), to: scratch.path(name))
        }
        let again = try EngineHarness(scratch: scratch, stages: [.passing])
        try again.start()
        #expect(await eventually { again.reports.count == 2 })
        _ = await again.stop()
        #expect(try scratch.jobStates() == [.processed: 5])
    }

    @Test("A work folder that moved: its jobs are taken over", arguments: [false, true])
    func moved(acrossMounts: Bool) async throws {
        if acrossMounts, !TemporaryMount.isPossible { return }
        let scratch = try ScratchFolder()
        try await leave(3, in: scratch)
        let disk = acrossMounts ? try TemporaryMount(tmpfs: "size=8m", at: scratch.path("elsewhere")) : nil
        defer { withExtendedLifetime(disk) {} }
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { pipeline in
            pipeline.inbox = scratch.path("elsewhere/inbox")
        }
        try engine.start()
        #expect(await eventually { engine.reports.count == 3 }, "\(engine.warnings)")
        let told = engine.warnings.contains { $0.contains("3 jobs were taken over") }
        #expect(told, "\(engine.warnings)")
        _ = await engine.stop()
        #expect(try scratch.tree("processed") == ["drop-1", "drop-2", "drop-3"])
        #expect(try scratch.jobStates() == [.processed: 3])
    }

    @Test(
        "A take-over that was broken off goes on: between a copy and its name, and before the old one went",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func brokenOff() async throws {
        let scratch = try ScratchFolder()
        try await leave(3, in: scratch)
        let disk = try TemporaryMount(tmpfs: "size=8m", at: scratch.path("elsewhere"))
        defer { withExtendedLifetime(disk) {} }
        let work = try scratch.makeFolder("elsewhere/.dropmill/test")
        try Folder.make(work.appending("active"), mode: 0o700)
        try scratch.write("half", to: "elsewhere/.dropmill/test/taking/drop")
        let old = scratch.path(".dropmill/test/active")
        let name = try #require(Folder.names(in: old).sorted().first)
        try Transfer.copy(
            FilePath().appending(name), in: Folder.open(old), to: FilePath().appending(name),
            in: Folder.open(work.appending("active")))
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { pipeline in
            pipeline.inbox = scratch.path("elsewhere/inbox")
        }
        try engine.start()
        #expect(await eventually { engine.reports.count == 3 }, "\(engine.warnings)")
        #expect(await engine.stop()?.unfinished == 0)
        #expect(try scratch.tree("processed") == ["drop-1", "drop-2", "drop-3"])
        #expect(try scratch.jobStates() == [.processed: 3])
        #expect(Folder.kind(of: old) == nil && Folder.kind(of: work.appending("taking")) == nil)
    }

    @Test("Jobs that were taken over, which nobody got to write down, are known in their new place")
    func takenButNotWritten() async throws {
        let scratch = try ScratchFolder()
        try await leave(2, in: scratch)
        let (old, new) = (scratch.path(".dropmill/test/active"), try scratch.makeFolder("work/active"))
        for name in try Folder.names(in: old) { try NoReplace.rename(old.appending(name), to: new.appending(name)) }
        let journal = try SQLiteJournal.open(writing: scratch.path("state"), durable: false)
        var record = try #require(try journal.unfinished().first)
        let target = scratch.path("processed").appending(record.drop.name)
        let source = old.appending(record.id.text).appending(record.drop.name)
        let identity = try #require(FileIdentity.of(new.appending(record.id.text).appending(record.drop.name)))
        record.state = .settling
        record.stage = 1
        record.intents = [Intent(role: .original, source: source, target: target, identity: identity)]
        try journal.write([record], pipelines: [])
        journal.close()
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { $0.work = scratch.path("work") }
        try engine.start()
        #expect(await eventually { engine.reports.count == 2 }, "\(engine.warnings)")
        #expect(await engine.stop()?.unfinished == 0)
        #expect(try scratch.tree("processed") == ["drop-1", "drop-2"])
    }

    @Test("Where they were cannot be reached: they are left until it can")
    func unreachable() async throws {
        let scratch = try ScratchFolder()
        try await leave(2, in: scratch)
        try NoReplace.rename(scratch.path(".dropmill"), to: scratch.path("away"))
        func start() throws -> EngineHarness {
            let engine = try EngineHarness(scratch: scratch, stages: [.passing]) {
                $0.inbox = scratch.path("new/inbox")
            }
            try engine.start()
            return engine
        }
        // Twice: the place is not forgotten by a run that could not reach it.
        for _ in 1...2 {
            let engine = try start()
            let place = scratch.path(".dropmill/test").string
            let told = await eventually {
                engine.warnings.contains { $0.contains("2 jobs stay as they are") && $0.contains(place) }
            }
            #expect(told, "\(engine.warnings)")
            #expect(await engine.stop()?.unfinished == 2)
        }
        try NoReplace.rename(scratch.path("away"), to: scratch.path(".dropmill"))
        let engine = try start()
        #expect(await eventually { engine.reports.count == 2 })
        _ = await engine.stop()
    }

    @Test("Removed, and looked for elsewhere at the next start: the inbox is the one that it was, so it is gone")
    func goneAndMoved() async throws {
        let scratch = try ScratchFolder()
        try await leave(2, in: scratch)
        try Folder.remove(scratch.path(".dropmill"))
        let engine = try EngineHarness(scratch: scratch, stages: [.passing]) { $0.work = scratch.path("work") }
        try engine.start()
        try engine.drop("after")
        #expect(await eventually { engine.reports.count == 1 })
        #expect(await engine.stop()?.unfinished == 0)
        #expect(try scratch.jobStates() == [.lost: 2, .processed: 1])
    }

    @Test("A settlement that was decided goes on from the new place")
    func movedSettlement() throws {
        let harness = try SpoolHarness()
        let job = try harness.job(["drop": "content"])
        var record = harness.settlement(of: job, nil, .processed).record
        let target = harness.scratch.path("processed/drop")
        record.state = .settling
        record.intents = [
            Intent(
                role: .original, source: job.original, target: target,
                identity: try #require(FileIdentity.of(job.original)))
        ]
        let moved = record.moved(from: harness.spool.work.path, to: harness.scratch.path("other"))
        let source = harness.scratch.path("other/active").appending(job.id.text).appending(job.drop.name)
        #expect(moved.intents.map(\.source) == [source])
        #expect(moved.intents.map(\.target) == [target])
        #expect(record.moved(from: "/nowhere", to: "/else") == record)
    }

    @Test("A second daemon on the same inbox is told, though it has a work folder of its own")
    func twoDaemons() async throws {
        let scratch = try ScratchFolder()
        let first = try EngineHarness(scratch: scratch, stages: [.passing])
        try first.start()
        let other = Engine(
            pipelines: [first.pipeline.with(work: scratch.path("own-work"))],
            configuration: EngineConfiguration(
                state: scratch.path("own-state"), journal: SQLiteStore(in: scratch.path("own-state")))
        ) { @Sendable [heard = Heard.shared] event in heard.add(event) }
        let ended = Mutex(false)
        try other.start { @Sendable _ in ended.withLock { $0 = true } }
        #expect(
            await eventually { Heard.shared.warnings.contains { $0.contains("is also watched by another process") } })
        other.stop(grace: .zero)
        #expect(await eventually { ended.withLock { $0 } })
        #expect(!first.warnings.contains { $0.contains("is also watched by another process") })
        _ = await first.stop()
    }

    private final class Heard: Sendable {
        static let shared = Heard()
        private let events = Mutex<[EngineEvent]>([])
        func add(_ event: EngineEvent) { events.withLock { $0.append(event) } }
        var warnings: [String] {
            events.withLock { $0.compactMap { if case .warning(_, let message) = $0 { message } else { nil } } }
        }
    }
}

extension Pipeline {
    fileprivate func with(work: FilePath) -> Pipeline {
        var pipeline = self
        pipeline.work = work
        return pipeline
    }
}

extension EngineHarness {
    /// Whether somebody holds a pipeline's work folder.
    fileprivate static func locked(_ pipeline: Pipeline) -> Bool {
        do {
            return try FolderLock.isHeld(WorkFolder.path(for: pipeline))
        } catch {
            return false
        }
    }
}
