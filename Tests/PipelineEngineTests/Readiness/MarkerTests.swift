import Digests
@preconcurrency import Dispatch
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine

@Suite("Markers", .timeLimit(.minutes(5))) struct MarkerTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func engine(
        _ marker: String, timeout: Duration? = nil, adjust: (inout Pipeline) -> Void = { _ in }
    ) throws -> EngineHarness {
        let rule = try MarkerRule(Template(marker, use: .name))
        return try EngineHarness(scratch: scratch, stages: [.passing]) {
            $0.ready.marker = rule
            $0.ready.timeout = timeout
            adjust(&$0)
        }
    }

    private func processed() throws -> [String] { try scratch.tree("processed") }

    @Test("A drop waits for its marker, is taken when it comes, and the marker lies beside it afterwards")
    func waits() async throws {
        let engine = try engine("{name}.done")
        try engine.drop("held.csv", "1")
        try engine.drop("a.csv", "1")
        try engine.drop("a.csv.done", "")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try processed() == ["a.csv", "a.csv.done"])
        try engine.drop("held.csv.done", "")
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try processed() == ["a.csv", "a.csv.done", "held.csv", "held.csv.done"])
        #expect(try scratch.tree("inbox").isEmpty)
        _ = await engine.stop()
    }

    @Test("A marker is not enough: a drop that is held open is not taken")
    func notSufficient() async throws {
        let engine = try engine("{name}.done")
        let path = try scratch.write("1", to: "inbox/a.csv")
        let writer = try OpenFile.open(path, O_WRONLY | O_APPEND)
        try engine.drop("a.csv.done", "")
        try engine.drop("b.csv", "1")
        try engine.drop("b.csv.done", "")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(engine.reports.first?.job.drop.name.text == "b.csv")
        try writer.write(Array("2".utf8))
        try writer.close()
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try scratch.text("processed/a.csv") == "12")
        _ = await engine.stop()
    }

    @Test("What a marker says of size or digest has to fit", arguments: ["3\n", "size", "digest"])
    func announces(_ kind: String) async throws {
        var hasher = try FileHasher.make([.sha256])
        let whole = try scratch.write("whole", to: "whole")
        let opened = try OpenFile.open(whole, O_RDONLY)
        let hex = try #require(try hasher.hash(descriptor: opened.descriptor).first).hex
        let text = ["size": "5", "digest": "\(hex)  a.csv\n"][kind] ?? kind
        let engine = try engine("{name}.done", timeout: kind == "3\n" ? .milliseconds(700) : nil)
        try engine.drop("a.csv", "torn!!")
        try engine.drop("a.csv.done", text)
        try engine.drop("b.csv", "1")
        try engine.drop("b.csv.done", "{ any: text }")
        try engine.start()
        #expect(await eventually { engine.reports.contains { $0.job.drop.name.text == "b.csv" } })
        guard kind != "3\n" else {
            #expect(await eventually { engine.reports.count == 2 })
            #expect(try scratch.text("failed/a.csv.error.json").contains("says 3 bytes; the drop has 6"))
            #expect(scratch.exists("failed/a.csv.done"))
            _ = await engine.stop()
            return
        }
        try engine.drop("a.csv", "whole")
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try scratch.text("processed/a.csv") == "whole")
        _ = await engine.stop()
    }

    @Test("A drop that changed unseen while it had no room, in its ctime alone, is not taken for what it was")
    func changedWithoutRoom() async throws {
        let release = DispatchSemaphore(value: 0)
        let stage = StageEntry.fake { (payload, context) throws(Failure) in
            if context.job.drop.name.text == "a" { release.wait() }
            return payload
        }
        let rule = try MarkerRule(Template("{name}.done", use: .name))
        let engine = try EngineHarness(scratch: scratch, stages: [stage]) {
            $0.ready.marker = rule
            $0.activeJobs = 1
        }
        var hasher = try FileHasher.make([.md5])
        let other = try scratch.write("whole", to: "other")
        let file = try OpenFile.open(other, O_RDWR)
        let hex = try #require(try hasher.hash(descriptor: file.descriptor).first).hex
        let before = try file.status()
        try file.close()
        try engine.drop("a", "1")
        try engine.drop("a.done", "")
        try engine.start()
        #expect(await eventually { engine.events.contains { if case .stageStarted = $0 { true } else { false } } })
        let drop = scratch.path("inbox/b")
        #expect(other.withPlatformString { old in drop.withPlatformString { Glibc.link(old, $0) } } == 0)
        try engine.drop("b.done", "\(hex)  b\n")
        #expect(await eventually { await engine.waiting(for: "b")?.waiting == .room })
        // By its other name, of which no event tells; its size and its time stay.
        let writer = try OpenFile.open(other, O_WRONLY)
        try writer.write(Array("torn!".utf8))
        #expect(futimens(writer.descriptor, [before.st_atim, before.st_mtim]) == 0)
        try writer.close()
        release.signal()
        let marker = try "b.done".fileName
        #expect(
            await eventually {
                await engine.waiting(for: "b")?.waiting == .marker(marker, .digest(algorithm: "md5"))
            })
        #expect(engine.reports.count == 1)
        _ = await engine.stop()
    }

    @Test("A marker that two drops share goes with the last of them")
    func shared() async throws {
        let engine = try engine("{stem}.ok")
        try engine.drop("a.csv", "1")
        try engine.drop("a.pdf", "2")
        try engine.drop("a.ok", "")
        try engine.start()
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try processed() == ["a.csv", "a.ok", "a.pdf"])
        #expect(try scratch.tree("inbox").isEmpty)
        _ = await engine.stop()
    }

    @Test("One marker for the whole inbox speaks for what was there before it, and stays")
    func forAll() async throws {
        let engine = try engine("READY")
        try engine.drop("a", "1")
        try engine.drop("READY", "")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        try scratch.write("2", to: "inbox/b")
        #expect(try scratch.tree("inbox") == ["READY", "b"])
        try scratch.write("", to: "inbox/READY")
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try scratch.tree("inbox") == ["READY"])
        _ = await engine.stop()
    }

    @Test("In processed the marker goes by the name that its drop has there")
    func renamed() async throws {
        let engine = try engine("{stem}.ok")
        try engine.start()
        for count in 1...2 {
            try engine.drop("a.csv", "\(count)")
            try engine.drop("a.ok", "")
            #expect(await eventually { engine.reports.count == count })
        }
        #expect(try processed() == ["a.2.csv", "a.2.ok", "a.csv", "a.ok"])
        _ = await engine.stop()
    }

    @Test("A drop without its marker, and a marker without its drop, are failed in time with their reasons")
    func overdue() async throws {
        let engine = try engine("{name}.done", timeout: .milliseconds(400))
        try engine.drop("a.csv", "1")
        try engine.drop("b.csv.done", "")
        try engine.start()
        #expect(await eventually { engine.reports.count == 2 })
        #expect(
            try scratch.tree("failed") == ["a.csv", "a.csv.error.json", "b.csv.done", "b.csv.done.error.json"])
        #expect(try scratch.text("failed/a.csv.error.json").contains("marker a.csv.done missing"))
        #expect(try scratch.text("failed/b.csv.done.error.json").contains("a marker whose drop did not arrive"))
        #expect(try scratch.tree("inbox").isEmpty)
        _ = await engine.stop()
    }

    @Test("A failed drop that is sent back takes its marker along, under the name that fits")
    func sentBack() throws {
        try Folder.make(scratch.path("inbox"))
        let original = try scratch.write("1", to: "failed/a.2.csv")
        let outputs = try ["a.2.ok", "a.2.csv.error.json"].map { try scratch.write("", to: "failed/\($0)") }
        let drop = Drop(name: try "a.csv".fileName, size: 1, droppedAt: .now())
        let job = Job(
            id: JobIDGenerator().next(), pipeline: "test", drop: drop, claimedAt: .now(), folder: scratch.path("gone"))
        var record = JobRecord(claimed: job, identity: .unknown, definition: "")
        record.original = original
        record.outputs = outputs
        let sent = try SendBack(inbox: scratch.path("inbox")).send(record) { _ in }
        #expect(sent.leftover == nil)
        #expect(try scratch.tree("inbox") == ["a.csv", "a.ok"])
        #expect(try scratch.tree("failed").isEmpty)
    }

    @Test("With --once, what lacks its marker stays and is named with it")
    func once() async throws {
        let engine = try engine("{name}.done")
        try engine.drop("a.csv", "1")
        try engine.drop("b.csv.done", "")
        try engine.start(once: true)
        #expect(await eventually { engine.summary != nil })
        #expect(
            engine.summary?.remaining.map { "\($0.path) \($0.reason)" }.sorted() == [
                "a.csv stays in the inbox: marker a.csv.done missing",
                "b.csv.done stays in the inbox: a marker whose drop has not arrived",
            ])
    }

    @Test("A result is named before what lies beside it")
    func outputs() throws {
        let job = Job(
            id: JobIDGenerator().next(), pipeline: "test",
            drop: Drop(name: try "a".fileName, size: 1, droppedAt: .now()),
            claimedAt: .now(), folder: scratch.path)
        var record = JobRecord(claimed: job, identity: .unknown, definition: "")
        func intent(_ role: Intent.Role, _ target: FilePath) -> Intent {
            Intent(role: role, source: "/x", target: target, identity: .unknown)
        }
        record.end(
            .processed,
            intents: [intent(.sidecar, "/done/a.ok"), intent(.output, "/out/a"), intent(.original, "/done/a")],
            at: .now())
        #expect(record.outputs == ["/out/a", "/done/a.ok"])
        #expect(record.original == "/done/a")
    }

    @Test("A marker that is alone is told of from the first; with its drop, that is told")
    func alone() async throws {
        let engine = try engine("{name}.done")
        try engine.drop("a.csv.done", "")
        try engine.drop("held.csv", "1")
        let writer = try OpenFile.open(scratch.path("inbox/held.csv"), O_WRONLY)
        try engine.drop("held.csv.done", "")
        try engine.start()
        #expect(await eventually { await engine.waiting().left.map(\.waiting) == [.markerWithoutDrop] })
        #expect(await engine.waiting().leftCount == 1)
        #expect(await engine.waiting(for: "held.csv.done")?.waiting == .markerOf(try "held.csv".fileName))
        #expect(await engine.waiting(for: "a.csv.done")?.waiting == .markerWithoutDrop)
        try writer.close()
        _ = await engine.stop()
    }

    @Test("A marker that is a symbolic link outlives its drop, and is reported")
    func link() async throws {
        let engine = try engine("{name}.done", timeout: .milliseconds(400))
        try engine.drop("c.csv.done", "")
        try scratch.link("inbox/b.csv.done", to: "elsewhere")
        try engine.start()
        #expect(await eventually { engine.reports.map(\.job.drop.name.text) == ["c.csv.done"] })
        #expect(
            await eventually {
                engine.events.contains {
                    if case .refused(_, let path, let reason) = $0 {
                        path.text == "b.csv.done" && reason.contains("a symbolic link")
                    } else {
                        false
                    }
                }
            })
        _ = await engine.stop()
    }

    @Test("A marker's folder that goes holds up neither the other markers nor the pipeline")
    func folderGone() async throws {
        let engine = try engine("{name}.done", timeout: .seconds(3)) { $0.match = MatchRule(depth: 2) }
        try scratch.write("", to: "inbox/sub/a.done")
        try engine.drop("b.done", "")
        try engine.start()
        #expect(await eventually { await engine.waiting().leftCount == 2 })
        // Exchanged at one stroke, for what cannot be opened as a folder.
        try scratch.write("", to: "file")
        let (sub, file) = (scratch.path("inbox/sub"), scratch.path("file"))
        try Folder.remove(sub)
        try NoReplace.rename(file, to: sub)
        #expect(await eventually { engine.reports.contains { $0.job.drop.name.text == "b.done" } })
        #expect(!engine.events.contains { if case .paused = $0 { true } else { false } })
        _ = await engine.stop()
    }

    // MARK: Crash points

    /// The folder of a job that a killed daemon left before the journal knew of it.
    private func leftJob(_ pipeline: Pipeline, _ file: String) throws -> FilePath {
        let folder = scratch.path(".dropmill/test/active").appending(JobIDGenerator().next().text)
        try scratch.write(Array("1".utf8), to: folder.appending(try file.fileName))
        return folder
    }

    @Test("Killed between the drop's rename and the marker's: the marker follows at the next start")
    func killedBeforeTheMarker() async throws {
        let engine = try engine("{name}.done")
        _ = try leftJob(engine.pipeline, "a.csv")
        try engine.drop("a.csv.done", "")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try processed() == ["a.csv", "a.csv.done"])
        #expect(try scratch.tree("inbox").isEmpty)
        _ = await engine.stop()
    }

    @Test("Killed like that while another drop needs the marker: it stays for that one")
    func killedWithAnotherDrop() async throws {
        let engine = try engine("{stem}.ok")
        _ = try leftJob(engine.pipeline, "a.csv")
        try engine.drop("a.pdf", "2")
        try engine.drop("a.ok", "")
        try engine.start()
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try processed() == ["a.csv", "a.ok", "a.pdf"])
        _ = await engine.stop()
    }

    @Test("Killed after both: the marker is still with its drop")
    func killedAfterTheMarker() async throws {
        let engine = try engine("{name}.done")
        let folder = try leftJob(engine.pipeline, "a.csv")
        try scratch.write([], to: folder.pushing(".marker/a.csv.done"))
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try processed() == ["a.csv", "a.csv.done"])
        _ = await engine.stop()
    }

    @Test("A drop that was given up is not taken for a complete one by the next run")
    func killedWhileGivenUp() async throws {
        let engine = try engine("{name}.done")
        let folder = try leftJob(engine.pipeline, "a.csv")
        let name = try "a.csv".fileName
        try Rejection.write(.overdue(name, .marker(name, .missing), ReadyRule()), in: folder)
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("failed") == ["a.csv", "a.csv.error.json"])
        _ = await engine.stop()
    }
}
