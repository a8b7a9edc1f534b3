import Dispatch
import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import BuiltinStages

@Suite struct UnpackStageTests {
    private static func zip(_ names: String...) -> [UInt8] {
        var zip = ZipBuilder()
        for name in names { zip.add(name, content: "content of \(name)") }
        return zip.finished
    }

    @Test func anArchiveBecomesItsContents() throws {
        let fixture = try StageFixture(drop: "scans.zip", Self.zip("a", "folder/b"))
        let progress = StageProgress()
        let payload = try fixture.run("unpack", progress: progress)
        #expect(payload.shape == .folder)
        #expect(!payload.isDrop)
        #expect(try payload.files().map(\.relative) == ["a", "folder/b"])
        #expect(progress.entries == 2)
        #expect(progress.bytes == 31)
        #expect(Folder.kind(of: fixture.job.original) == .regular, "the drop stays as it is")
    }

    @Test func theContentCountsNotTheName() throws {
        let fixture = try StageFixture(drop: "picture.png", Self.zip("a"))
        #expect(try fixture.run("unpack").shape == .folder)
        let plain = try StageFixture(drop: "not.zip", Array("plain text".utf8))
        #expect(try plain.run("unpack").shape == plain.payload.shape)
    }

    @Test func noArchivePassesUnlessRequired() throws {
        let fixture = try StageFixture(drop: "report.pdf", Array("%PDF-1.7".utf8))
        #expect(try fixture.run("unpack") == fixture.payload)
        #expect(Folder.kind(of: fixture.job.scratch(stage: 0, kind: "unpack")) == nil)
        let failure = try fixture.failure("unpack", ["require": ["true"]])
        #expect(failure.class == .file)
        #expect(failure.code == "archive.none")
        #expect(failure.summary.contains("report.pdf"))
    }

    @Test(arguments: [
        ("a.docx", "word/document.xml"), ("a.JAR", "x"), ("b.epub", "x"), ("book", "mimetype"),
        ("sheet", "[Content_Types].xml"),
        ("library", "META-INF/MANIFEST.MF"),
    ])
    func documentsPass(name: String, first: String) throws {
        let fixture = try StageFixture(drop: name, Self.zip(first, "other"))
        #expect(try fixture.run("unpack") == fixture.payload)
        #expect(try fixture.run("unpack", ["require": ["true"]]) == fixture.payload)
        #expect(try fixture.run("unpack", ["documents": ["true"]]).shape == .folder)
    }

    @Test func whatItsSenderCallsZipIsUnpacked() throws {
        let fixture = try StageFixture(drop: "sources.zip", Self.zip("mimetype", "other"))
        #expect(try fixture.run("unpack").shape == .folder)
    }

    @Test func debianPackagesPass() throws {
        let package = Array("!<arch>\ndebian-binary   1700000000  0     0     100644  4         `\n2.0\n".utf8)
        let fixture = try StageFixture(drop: "tool", package)
        #expect(try fixture.run("unpack") == fixture.payload)
        let unpacked = try fixture.run("unpack", ["documents": ["true"]])
        #expect(try unpacked.files().map(\.relative) == ["debian-binary"])
    }

    @Test(arguments: [
        ("report.csv.gz", "report.csv"), ("report.GZ", "report"), ("a.tgz", "a.tar"), ("odd", "odd"),
        ("odd.bin", "odd.bin"),
    ])
    func aLoneCompressedFile(name: String, expected: String) throws {
        let gzip = try #require(Tool.find("gzip"))
        let fixture = try StageFixture(drop: name, Array("x".utf8))
        let path = try fixture.scratch.write(Array("a,b\n".utf8), to: fixture.scratch.path("plain"))
        try #require(try gzip.run(["-n", path.string]).status == 0)
        try fixture.scratch.write(try fixture.scratch.read("plain.gz"), to: fixture.job.original)
        let payload = try fixture.run("unpack")
        #expect(payload.shape == .file(try #require(FileName(expected))))
        #expect(try ScratchFolder.read(payload.path) == Array("a,b\n".utf8))
    }

    @Test func aFolderPayloadPasses() throws {
        let fixture = try StageFixture(drop: "x", [])
        let payload = try fixture.folderPayload([(Array("a.zip".utf8), "no matter what")])
        #expect(try fixture.run("unpack", on: payload) == payload)
    }

    @Test func aDestinationStays() throws {
        let fixture = try StageFixture(drop: "a.zip", Self.zip("a"))
        var payload = try fixture.run("move", ["to": ["out"]])
        payload.sidecars = [Sidecar(suffix: ".sha256", parts: [])]
        let unpacked = try fixture.run("unpack", on: payload)
        #expect(unpacked.destination == payload.destination)
        #expect(unpacked.sidecars.isEmpty)
    }

    /// A tar.gz with so many zeros after it that nobody would wait for their end.
    @Test func whatFollowsAnArchiveCanBeCalledOff() async throws {
        var tar = TarBuilder()
        tar.add("a", content: "x")
        let fixture = try StageFixture(drop: "a.tar", tar.finished)
        let gzip = try #require(Tool.find("gzip"))
        try #require(try gzip.run(["-n", fixture.job.original.string]).status == 0)
        let padded = FilePath(fixture.job.original.string + ".gz")
        try #require(padded.withPlatformString { truncate($0, 1 << 40) } == 0)
        try #require(rename(padded.string, fixture.job.original.string) == 0)

        let (cancellation, progress) = (Cancellation(), StageProgress())
        let outcome = Mutex<Failure?>(nil)
        DispatchQueue(label: "stage").async { @Sendable in
            do {
                try fixture.run("unpack", cancellation: cancellation, progress: progress)
            } catch let failure as Failure {
                outcome.withLock { $0 = failure }
            } catch {}
        }
        #expect(await eventually { progress.entries == 1 })
        cancellation.cancel()
        #expect(await eventually { outcome.withLock { $0 } == .cancelled })
    }

    /// One that is not done within the stage's `timeout` would not be the next time either.
    @Test func aTimeoutIsTheFiles() async throws {
        let fixture = try StageFixture(drop: "a.xar", XarBuilder.endless)
        let cancellation = Cancellation()
        let outcome = Mutex<Failure?>(nil)
        DispatchQueue(label: "stage").async { @Sendable in
            do {
                try fixture.run("unpack", ["formats": ["xar"]], cancellation: cancellation, timeLimit: .seconds(7))
            } catch let failure as Failure {
                outcome.withLock { $0 = failure }
            } catch {}
        }
        let hasBegun = await eventually {
            Folder.kind(of: fixture.job.scratch(stage: 0, kind: "unpack")) == .folder
        }
        #expect(hasBegun)
        cancellation.cancel(.timeout)
        #expect(await eventually { outcome.withLock { $0 } != nil })
        let failure = try #require(outcome.withLock { $0 })
        #expect(failure.class == .file && failure.code == "archive.timeout")
        #expect(failure.summary == "The archive 'a.xar' took longer than 7 seconds to unpack.")
    }

    /// But for one that came out as fast as where only the disk is slow.
    @Test(arguments: [
        (Int64(0), Int64(0), false), (399 << 20, 0, false), (401 << 20, 0, true), (0, 100_000, false),
        (0, 103_000, true), (.max, .max, true),
    ])
    func whatKeepsUp(bytes: Int64, entries: Int64, keepsUp: Bool) {
        let progress = StageProgress()
        progress.add(bytes: bytes, entries: entries)
        #expect(UnpackStage.keepsUp(progress, seconds: 100) == keepsUp)
    }

    /// The names of an lha are in whatever code page it says, and the helper may open no table for that any more.
    @Test(arguments: [
        ([0x93, 0xFA, 0x96, 0x7B, 0x8C, 0xEA], UInt32(932), "日本語"), ([0xD6, 0xD0, 0xCE, 0xC4], 936, "中文"),
        ([0x8F, 0xE0, 0xA8], 866, "При"),
    ])
    func namesOfManyCodePages(name: [UInt8], codePage: UInt32, expected: String) throws {
        let archive = LhaBuilder.archive(name, codePage: codePage, content: "x\n")
        let fixture = try StageFixture(drop: "a.lzh", archive)
        let payload = try fixture.run("unpack", ["formats": ["lha"]])
        #expect(try fixture.names(payload) == [expected])
        let unknown = LhaBuilder.archive(name, codePage: 99999, content: "x\n")
        let failure = try StageFixture(drop: "b.lzh", unknown).failure("unpack", ["formats": ["lha"]])
        #expect(failure.class == .file && failure.code == "archive.unsupported")
    }

    @Test func badArchivesFailTheFile() throws {
        let cut = Array(Self.zip("a", "b").dropLast(10))
        let damaged = try StageFixture(drop: "cut.zip", cut).failure("unpack")
        #expect(damaged.class == .file)
        #expect(damaged.code == "archive.damaged")
        let hostile = try StageFixture(drop: "evil.zip", Self.zip("a", "../b\n")).failure("unpack")
        #expect(hostile.class == .file)
        #expect(hostile.code == "archive.unsafe-entry")
        #expect(
            hostile.summary == #"The archive's entry '../b\n' has '..' in its name, which leads out of its folder."#)
        #expect(!hostile.remedy.isEmpty)
        let empty = try StageFixture(drop: "empty.zip", ZipBuilder().finished).failure("unpack")
        #expect(empty.code == "archive.empty")
    }
}

extension UnpackStage: ContractSubject {
    // One archive that does not fit where others may is no reason to pause; it is tried again as `retry` says.
    static var contract: StageContract { StageContract(handsOn: [.folder], work: .archive, fullDisk: .transient) }
}
