@preconcurrency import Dispatch
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import FolderWatch
@testable import Readiness

@Suite("Folders as drops", .timeLimit(.minutes(5)), .serialized) struct FolderDropTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func engine(
        stage: StageEntry = .passing, adjust: (inout Pipeline) -> Void = { _ in }
    ) throws -> EngineHarness {
        try EngineHarness(scratch: scratch, stages: [stage]) {
            $0.ready.unit = .folder
            adjust(&$0)
        }
    }

    private func link(_ old: String, _ new: String) throws {
        let (old, new) = (scratch.path(old), scratch.path(new))
        guard old.withPlatformString({ from in new.withPlatformString { Glibc.link(from, $0) } }) == 0 else {
            throw IOError("link", new, .last)
        }
    }

    @Test("A folder is taken as a whole: its payload is all it holds, and it ends in processed as it was")
    func whole() async throws {
        let stage = StageEntry.fake { (payload, context) throws(Failure) in
            let files = try Failure.onIO { () throws(IOError) in try context.files(of: payload) }
            guard payload.shape == .folder, files.map(\.relative.string) == ["a.txt", "sub/b.txt"] else {
                throw .file("test.payload", "\(payload)")
            }
            return payload
        }
        try scratch.write("1", to: "inbox/batch.2026/a.txt")
        try scratch.write("22", to: "inbox/batch.2026/sub/b.txt")
        let engine = try engine(stage: stage)
        try scratch.write("x", to: "inbox/single.txt")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(engine.reports.first?.job.drop.size == 3)
        #expect(
            try scratch.tree("processed") == [
                "batch.2026/", "batch.2026/a.txt", "batch.2026/sub/", "batch.2026/sub/b.txt",
            ])
        #expect(try scratch.tree("inbox") == ["single.txt"], "a file is none of the drops here")
        #expect(
            engine.events.contains {
                if case .refused(_, let path, _) = $0 { path.text == "single.txt" } else { false }
            })
        _ = await engine.stop()
    }

    @Test("It waits for every file in it: one that is held open, one that still grows, one that appears")
    func waits() async throws {
        let engine = try engine()
        let held = try scratch.write("1", to: "inbox/held/deep/a")
        try scratch.write("1", to: "inbox/still/a")
        let writer = try OpenFile.open(held, O_WRONLY | O_APPEND)
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(engine.reports.first?.job.drop.name.text == "still")
        try scratch.write("late", to: "inbox/held/deep/b")
        try writer.write(Array("2".utf8))
        try writer.close()
        #expect(await eventually { engine.reports.count == 2 })
        #expect(try scratch.text("processed/held/deep/a") == "12")
        #expect(try scratch.text("processed/held/deep/b") == "late")
        _ = await engine.stop()
    }

    @Test(
        "It waits for a process that is in it, which could go on putting files there wherever it is moved",
        .enabled(if: ProcessScan().isComplete, "needs the right to see all processes"))
    func visited() async throws {
        let engine = try engine()
        try scratch.write("1", to: "inbox/a/sub/file")
        let null = try OpenFile.open("/dev/null", O_WRONLY)
        let visitor = try ChildProcess.spawn(
            "/bin/sleep", [Array("600".utf8)], output: null.descriptor, error: null.descriptor,
            folder: scratch.path("inbox/a/sub"))
        defer {
            kill(visitor, SIGKILL)
            var status: Int32 = 0
            waitpid(visitor, &status, 0)
        }
        let folder = try #require(FileIdentity.of(scratch.path("inbox/a/sub")))
        #expect(await eventually { ProcessScan().visitor(of: [folder]) != nil })
        try engine.start()
        let text = "sleep (pid \(visitor)) is in the folder and may still add files"
        let isSeen = await eventually { await engine.waiting(for: "a")?.waiting.text == text }
        let waiting = await engine.waiting(for: "a")?.waiting.text
        #expect(isSeen, "\(waiting ?? "not there")")
        #expect(engine.reports.isEmpty)
        kill(visitor, SIGKILL)
        #expect(await eventually { engine.reports.count == 1 })
        _ = await engine.stop()
    }

    @Test("A manifest, and what it lists, is not looked for through symbolic links")
    func ledElsewhere() throws {
        try scratch.write("5  file\n", to: "inbox/a/SIZES")
        try scratch.write("12345", to: "elsewhere/file")
        try scratch.write("5  sub/file\n", to: "inbox/b/SIZES")
        try scratch.write("5  file\n", to: "elsewhere/SIZES")
        try scratch.link("inbox/a/file", to: "../../elsewhere/file")
        try scratch.link("inbox/b/sub", to: "../../elsewhere")
        try scratch.link("inbox/c", to: "../elsewhere")
        let inbox = try OpenInbox(scratch.path("inbox")).top
        let pattern = try #require(Glob("SIZES"))
        func fault(_ name: String) throws -> Waiting.ManifestFault? {
            try ManifestReading.fault(of: try name.fileName, in: inbox.file, matching: pattern, Cancellation())
        }
        #expect(try fault("a") == .lacks(1, first: "file"))
        #expect(try fault("b") == .lacks(1, first: "sub/file"))
        #expect(throws: IOError.self) { try fault("c") }
        #expect(
            try TreeLook.examine("c".fileName, in: inbox.file, asking: nil).sample == .refused("no longer a folder"))
    }

    @Test("One that holds a symbolic link stays, and is reported with the link; without it it is taken")
    func symbolicLink() async throws {
        let engine = try engine()
        try scratch.write("1", to: "inbox/a/file")
        try scratch.link("inbox/a/out", to: "/etc/passwd")
        try engine.start()
        #expect(
            await eventually {
                engine.events.contains {
                    if case .refused(_, _, let reason) = $0 { reason.contains("symbolic link, 'out'") } else { false }
                }
            })
        try Folder.remove(scratch.path("inbox/a/out"))
        // Nothing tells of what happens inside; a touch of the folder does.
        try engine.drop("b", "")
        #expect(scratch.path("inbox/a").withPlatformString { utimes($0, nil) } == 0)
        #expect(await eventually { engine.reports.count == 1 })
        _ = await engine.stop()
    }

    @Test("What another name outside still reaches becomes a copy; names within the folder stay one file")
    func hardLinks() async throws {
        let engine = try engine()
        try scratch.write("1", to: "outside")
        try scratch.write("2", to: "inbox/a/twin")
        try link("inbox/a/twin", "inbox/a/twin2")
        try link("outside", "inbox/a/shared")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        try scratch.append(Array("changed".utf8), to: scratch.path("outside"))
        #expect(try scratch.text("processed/a/shared") == "1")
        let twins = ["twin", "twin2"].map { FileIdentity.of(scratch.path("processed/a/\($0)")) }
        #expect(twins[0] != nil && twins[0] == twins[1])
        _ = await engine.stop()
    }

    @Test("A failed folder lies in failed with its reason beside it, under a free name")
    func fails() async throws {
        let engine = try engine(stage: .fake { (_, _) throws(Failure) in throw .file("test.bad", "Bad.") })
        try scratch.write("old", to: "failed/a.b/old")
        try scratch.write("1", to: "inbox/a.b/file")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.text("failed/a.b.2/file") == "1")
        #expect(scratch.exists("failed/a.b.2.error.json"))
        _ = await engine.stop()
    }

    @Test("One that a killed daemon left is taken up as a folder")
    func adopted() async throws {
        let engine = try engine()
        let folder = scratch.path(".dropmill/test/active").appending(JobIDGenerator().next().text)
        try scratch.write(Array("1".utf8), to: folder.pushing("a/sub/file"))
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("processed") == ["a/", "a/sub/", "a/sub/file"])
        _ = await engine.stop()
    }

    @Test("A marker inside the folder, under a fixed name")
    func markerInside() async throws {
        let rule = try MarkerRule(Template("_SUCCESS", use: .name))
        let engine = try engine { $0.ready.marker = rule }
        try scratch.write("1", to: "inbox/a/part-0")
        try scratch.write("1", to: "inbox/b/part-0")
        try scratch.write("", to: "inbox/b/_SUCCESS")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.tree("processed") == ["b/", "b/_SUCCESS", "b/part-0"])
        #expect(scratch.exists("inbox/a/part-0"))
        _ = await engine.stop()
    }

    // MARK: Manifests

    /// `sha256sum` of the one letter.
    private static let digestOfX = "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"

    @Test(
        "A manifest has to be there, and all that it lists, as it lists it",
        arguments: [
            ("SHA256SUMS", "SHA256SUMS", "\(digestOfX)  data/x\n"),
            ("*.md5", "data.md5", "9dd4e461268c8034f5c8564e155c67a6  data/x\n"),
            ("manifest-*.txt", "manifest-sha256.txt", "\(digestOfX)   data/x\n"),
            ("SIZES", "SIZES", "1  data/x\n"),
        ])
    func manifest(_ pattern: String, _ name: String, _ text: String) async throws {
        let glob = try #require(Glob(pattern))
        let engine = try engine {
            $0.ready.manifest = glob
            $0.ready.timeout = .seconds(3)
        }
        try scratch.write("x", to: "inbox/none/data/x")
        try scratch.write("xx", to: "inbox/torn/data/x")
        try scratch.write(text, to: "inbox/torn/\(name)")
        try scratch.write(text, to: "inbox/lacks/\(name)")
        try scratch.write("x", to: "inbox/whole/data/x")
        try scratch.write(text, to: "inbox/whole/\(name)")
        try engine.start()
        #expect(await eventually { engine.reports.count == 4 })
        #expect(
            try Set(scratch.tree("processed")) == ["whole/", "whole/\(name)", "whole/data/", "whole/data/x"])
        for (folder, reason) in [
            ("none", "its manifest is missing"), ("torn", "manifest has a different digest for data/x"),
            ("lacks", "manifest lists a missing file: data/x"),
        ] {
            let report = try scratch.text("failed/\(folder).error.json")
            #expect(report.contains(reason), "\(folder): \(report)")
        }
        _ = await engine.stop()
    }

    @Test("A manifest that comes last is found, though nothing tells of what happens inside a dropped folder")
    func manifestComesLast() async throws {
        let glob = try #require(Glob("SHA256SUMS"))
        let engine = try engine { $0.ready.manifest = glob }
        try scratch.write("x", to: "inbox/a/x")
        try engine.start()
        #expect(await eventually { await engine.waiting(for: "a")?.waiting == .manifest(.missing) })
        try scratch.write("\(Self.digestOfX)  x\n", to: "inbox/a/SHA256SUMS")
        #expect(await eventually { engine.reports.count == 1 })
        #expect(scratch.exists("processed/a/SHA256SUMS"))
        _ = await engine.stop()
    }

    @Test("One that got a symbolic link while it was complete and had no room fails, and gives its room to others")
    func unfit() async throws {
        let release = DispatchSemaphore(value: 0)
        let stage = StageEntry.fake { (payload, context) throws(Failure) in
            if context.job.drop.name.text == "a" { release.wait() }
            return payload
        }
        let engine = try engine(stage: stage) {
            $0.activeJobs = 1
            $0.order = .name
        }
        try scratch.write("1", to: "inbox/a/sub/file")
        try engine.start()
        #expect(await eventually { engine.events.contains { if case .stageStarted = $0 { true } else { false } } })
        for name in ["b", "c"] { try scratch.write("1", to: "inbox/\(name)/sub/file") }
        #expect(await eventually { await engine.waiting(for: "b")?.waiting == .room })
        try scratch.link("inbox/b/sub/out", to: "/etc/passwd")
        release.signal()
        #expect(await eventually { engine.reports.count == 3 })
        #expect(try scratch.text("failed/b.error.json").contains("symbolic link"))
        #expect(scratch.exists("processed/a/sub/file") && scratch.exists("processed/c/sub/file"))
        #expect(try scratch.tree(".dropmill/test/active").allSatisfy { $0.hasSuffix("/") })
        _ = await engine.stop()
    }

    @Test("A manifest that is made before it is written says nothing yet")
    func manifestIsEmpty() async throws {
        let glob = try #require(Glob("SHA256SUMS"))
        let engine = try engine { $0.ready.manifest = glob }
        try scratch.write("x", to: "inbox/a/x")
        let manifest = try scratch.write("# soon\n", to: "inbox/a/SHA256SUMS")
        let name = try "SHA256SUMS".fileName
        try engine.start()
        #expect(
            await eventually {
                await engine.waiting(for: "a")?.waiting == .manifest(.unusable(name, "it lists nothing"))
            })
        try scratch.append(Array("\(Self.digestOfX)  x\n".utf8), to: manifest)
        #expect(await eventually { engine.reports.count == 1 })
        #expect(scratch.exists("processed/a/x"))
        _ = await engine.stop()
    }

    @Test("Many folders that are complete at one time share the walks through the processes")
    func sharedScans() async throws {
        let engine = try engine { $0.order = .name }
        for number in 0..<40 { try scratch.write("1", to: "inbox/n\(number)/file") }
        try engine.start()
        #expect(await eventually { engine.reports.count == 40 })
        #expect((1..<40).contains(engine.scans), "\(engine.scans)")
        _ = await engine.stop()
    }

    @Test("A manifest that leads out of its folder is not followed")
    func manifestLeadsOut() async throws {
        let glob = try #require(Glob("SHA256SUMS"))
        try scratch.write("x", to: "secret")
        let engine = try engine {
            $0.ready.manifest = glob
            $0.ready.timeout = .seconds(1)
        }
        try scratch.write("\(Self.digestOfX)  ../../secret\n", to: "inbox/a/SHA256SUMS")
        try engine.start()
        #expect(await eventually { engine.reports.count == 1 })
        #expect(try scratch.text("failed/a.error.json").contains("leads out of the folder"))
        _ = await engine.stop()
    }
}

extension Failure {
    fileprivate static func onIO<Result>(
        _ body: () throws(IOError) -> Result
    ) throws(Failure) -> Result {
        do throws(IOError) {
            return try body()
        } catch {
            throw Failure(inStage: error)
        }
    }
}
