import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Doctor
@testable import FolderWatch
@testable import Readiness

@Suite("Siblings", .timeLimit(.minutes(5))) struct SiblingTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func engine(adjust: (inout Pipeline) -> Void = { _ in }) throws -> EngineHarness {
        try EngineHarness(scratch: scratch, stages: [.passing], quiet: .milliseconds(50), adjust: adjust)
    }

    private func name(_ text: String) throws -> FileName { try text.fileName }

    private func move(_ from: String, to name: String) {
        #expect(rename(scratch.path("inbox/\(from)").string, scratch.path("inbox/\(name)").string) == 0)
    }

    private func remove(_ name: String) { #expect(unlink(scratch.path("inbox/\(name)").string) == 0) }

    private func settled(_ engine: EngineHarness) -> [String] { engine.reports.map(\.job.drop.name.text).sorted() }

    /// Firefox makes an empty file of the name, writes beside it, and renames that over the first one.
    @Test("What is renamed over a drop that its sibling held back is taken as one drop, whole")
    func renamedOver() async throws {
        let engine = try engine()
        try engine.dropHere("a.zip", "")
        try engine.dropHere("a.zip.part", "half")
        try engine.start()
        let part = try name("a.zip.part")
        #expect(await eventually { await engine.waiting(for: "a.zip")?.waiting == .sibling(part) })
        #expect(await engine.waiting().waiting == 1)
        try engine.drop("other", "1")
        #expect(await eventually { settled(engine) == ["other"] })
        try engine.dropHere("a.zip.part", "half and half")
        move("a.zip.part", to: "a.zip")
        #expect(await eventually { settled(engine) == ["a.zip", "other"] })
        #expect(try scratch.text("processed/a.zip") == "half and half")
        _ = await engine.stop()
    }

    @Test(
        "A drop waits for each kind of sibling, and no longer",
        arguments: ["a.part", "a.filepart", "a.crdownload", "a.aria2", ".a.swp", ".~lock.a#", "a-journal", "a-wal"])
    func kinds(_ sibling: String) async throws {
        let engine = try engine()
        try engine.dropHere(sibling, "")
        try engine.dropHere("a", "1")
        try engine.dropHere("b", "1")
        try engine.start()
        let expected = try name(sibling)
        #expect(await eventually { await engine.waiting(for: "a")?.waiting == .sibling(expected) })
        #expect(await eventually { settled(engine) == ["b"] })
        remove(sibling)
        #expect(await eventually { settled(engine) == ["a", "b"] })
        _ = await engine.stop()
    }

    @Test("A sibling that comes while its drop is complete and waits for room holds it back again")
    func comesLate() async throws {
        let engine = try engine { $0.minFree = ByteSize(bytes: .max) }
        try engine.dropHere("a", "1")
        try engine.start()
        #expect(await eventually { if case .paused? = await engine.waiting(for: "a")?.waiting { true } else { false } })
        try engine.dropHere(".a.swp", "")
        let swap = try name(".a.swp")
        #expect(await eventually { await engine.waiting(for: "a")?.waiting == .sibling(swap) })
        _ = await engine.stop()
    }

    /// Names that could be drops themselves: a database's journal is worth nothing without it, nor it without that.
    @Test("A journal is not taken away from its database; alone it is a drop like any other")
    func together() async throws {
        let engine = try engine()
        try engine.dropHere("shop.db", "1")
        try engine.dropHere("shop.db-wal", "1")
        try engine.dropHere("alone-wal", "1")
        try engine.start()
        let database = try name("shop.db")
        #expect(await eventually { await engine.waiting(for: "shop.db-wal")?.waiting == .siblingOf(database) })
        #expect(await eventually { settled(engine) == ["alone-wal"] })
        remove("shop.db")
        #expect(await eventually { settled(engine) == ["alone-wal", "shop.db-wal"] })
        _ = await engine.stop()
    }

    @Test("The time that a drop may take counts, and the failure names the sibling")
    func timeout() async throws {
        let engine = try engine { $0.ready.timeout = .milliseconds(300) }
        try engine.dropHere("a", "1")
        try engine.dropHere("a.aria2", "1")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        let report = try scratch.text("failed/a.error.json")
        #expect(report.contains("a.aria2") && report.contains("ready.timeout"))
        #expect(scratch.exists("inbox/a.aria2"))
        _ = await engine.stop()
    }

    @Test("With 'once' it stays, and is told with its sibling")
    func once() async throws {
        let engine = try engine()
        try engine.dropHere("a", "1")
        try engine.dropHere("a.part", "1")
        try engine.dropHere("b", "1")
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(engine.summary?.processed == 1)
        #expect(engine.summary?.remaining.map(\.reason).contains { $0.contains("a.part") } == true)
    }

    @Test("A marker that is named like a sibling is a marker")
    func marker() async throws {
        let rule = try MarkerRule(Template("{name}.part", use: .name))
        let engine = try engine { $0.ready.marker = rule }
        try engine.dropHere("a", "1")
        try engine.dropHere("a.part", "")
        try engine.start()
        #expect(await eventually { settled(engine) == ["a"] })
        _ = await engine.stop()
    }

    @Test("Folders as drops, and drops in folders of the inbox, have siblings too", arguments: [true, false])
    func folders(areDrops: Bool) async throws {
        let engine = try engine {
            if areDrops { $0.ready.unit = .folder } else { $0.match.depth = 3 }
        }
        try scratch.write("1", to: areDrops ? "inbox/a/file" : "inbox/in/a")
        let sibling = areDrops ? "a.part" : "in/a.part"
        try scratch.write("1", to: "inbox/\(sibling)")
        try engine.start()
        let path = areDrops ? "a" : "in/a"
        let part = try name("a.part")
        #expect(await eventually { await engine.waiting(for: path)?.waiting == .sibling(part) })
        remove(sibling)
        #expect(await eventually { settled(engine) == ["a"] })
        _ = await engine.stop()
    }

    @Test("A program that is asked without a daemon finds the sibling itself")
    func probe() throws {
        try scratch.write("1", to: "inbox/a")
        try scratch.write("1", to: "inbox/a.filepart")
        try scratch.write("1", to: "inbox/a-wal")
        let pipeline = Pipeline(
            name: "test", source: "test.yaml", inbox: scratch.path("inbox"), processed: .delete,
            failed: scratch.path("failed"), ready: ReadyRule(quiet: .milliseconds(20)))
        func look(_ text: String) throws -> DropProbe.Outcome {
            try DropProbe.watch(DropPath(try name(text)), of: pipeline, patience: .seconds(20))
        }
        #expect(try look("a") == .waiting(.sibling(try name("a.filepart"))))
        #expect(try look("a-wal") == .waiting(.siblingOf(try name("a"))))
    }

    @Test("A sibling whose end nobody told of holds nothing back")
    func untold() throws {
        try scratch.write("1", to: "inbox/a")
        let part = try scratch.write("1", to: "inbox/a.part")
        var examiner = Examiner.testing(scratch.path("inbox"), isNotified: true)
        let sibling = try name("a.part")
        _ = examiner.receive(.appeared(DropPath(sibling)), at: .now(), isThere: { _ in true }, all: { _ in [] })
        let inbox = try OpenFile.openFolder(scratch.path("inbox"))
        #expect(try examiner.lack(of: name("a"), in: inbox) == .sibling(sibling))
        try Folder.remove(part)
        #expect(try examiner.lack(of: name("a"), in: inbox) == nil)
    }

    /// None of them has a call of its own made for it, nor a look at all the others.
    @Test("100,000 drops with siblings are known in moments")
    func many() throws {
        var index = SiblingIndex()
        let drops = try (0..<100_000).map { DropPath(try name("drop-\($0)")) }
        let part = try name("x.part")
        let begun = MonotonicTime.now()
        for drop in drops where !index.appeared(part, beside: drop) { Issue.record("\(drop) is no news") }
        for drop in drops where index.beside(drop) != [part] { Issue.record("\(drop) has none") }
        for drop in drops { index.vanished(part, beside: drop) }
        #expect(drops.allSatisfy { index.beside($0).isEmpty })
        #expect(.now() - begun < .seconds(60))
    }
}
