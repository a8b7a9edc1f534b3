import BuiltinStages
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct CompressStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "scan.tar.gz", Array("content".utf8)) }

    private static let names: [[UInt8]] = [
        Array("a".utf8), Array("märz/ü".utf8), Array("sub/b".utf8), Array("with blank".utf8),
    ]

    private func folder(_ names: [[UInt8]] = names) throws -> Payload {
        try fixture.folderPayload(names.map { ($0, "content of \($0.count)") })
    }

    /// What comes out when it is unpacked again, by this program and by others.
    @Test(arguments: ["zip", "tar.zst", "tar.gz", "tar.xz", "7z"])
    func archives(format: String) throws {
        let payload = try folder()
        try fixture.scratch.makeFolder("job/.payload/empty")
        let packed = try fixture.run("compress", ["format": .text(format)], on: payload)
        #expect(packed.shape == .file(try #require(FileName("scan.\(format)"))))
        let unpacked = try fixture.run("unpack", on: packed, in: 1)
        #expect(try StageFixture.snapshot(unpacked) == StageFixture.snapshot(payload))
        #expect(Folder.kind(of: unpacked.root.appending("empty")) == .folder)
        let tool = try #require(Tool.find(format == "zip" ? "unzip" : format == "7z" ? "7z" : "tar"))
        let output = try tool.run([
            format == "zip" || format == "7z" ? (format == "7z" ? "t" : "-t") : "-tf", packed.path.string,
        ])
        #expect(output.status == 0, "\(output.text)")
    }

    @Test(arguments: [("zst", "zstd"), ("gz", "gzip")])
    func oneFile(format: String, tool: String) throws {
        let packed = try fixture.run("compress", ["format": .text(format), "level": "1"])
        #expect(packed.shape == .file(try #require(FileName("scan.tar.gz.\(format)"))))
        let output = try #require(Tool.find(tool)).run(["-dc", packed.path.string])
        #expect(output.text == "content")
        #expect(try fixture.failure("compress", ["format": .text(format)], on: folder()).code == "compress.folder")
    }

    @Test(arguments: ["zip", "tar.zst", "tar.gz", "tar.xz", "7z"])
    func theSameContentsGiveTheSameBytes(format: String) throws {
        let options: Options = ["format": .text(format), "reproducible": "true", "name": "x"]
        let first = try ScratchFolder.read(fixture.run("compress", options, on: folder()).path)
        let payload = try folder(Self.names.reversed())
        let touch = try #require(Tool.find("touch"))
        _ = try touch.run(["-d", "2001-02-03", payload.root.pushing("sub/b").string])
        #expect(try ScratchFolder.read(fixture.run("compress", options, on: payload).path) == first)
        let listing = try #require(Tool.find("7z")).run([
            "l", "-slt", fixture.job.folder.pushing(".1-compress/x.zip").string,
        ])
        if format == "zip" { #expect(listing.text.contains("Modified = 1980-01-01 00:00:00"), "no zone's time") }
    }

    /// Of what is set apart by `reproducible` this stays.
    @Test func theRightToExecuteStays() throws {
        let payload = try fixture.folder(["run.sh": "#!/bin/sh\n", "words": "x"])
        chmod(payload.root.appending("run.sh").string, 0o4711)
        chmod(payload.root.appending("words").string, 0o600)
        let packed = try fixture.run("compress", ["format": "tar.zst", "reproducible": "true"], on: payload)
        let listing = try #require(Tool.find("bsdtar")).run(["-tvf", packed.path.string]).text
        #expect(listing.contains("-rwxr-xr-x"))
        #expect(listing.contains("-rw-r--r--"))
    }

    @Test(arguments: ["zip", "tar.zst"])
    func namesThatAreNoUTF8(format: String) throws {
        let payload = try folder([Array("V".utf8) + [0xED], Array("with \u{FC}".utf8)])
        let packed = try fixture.run("compress", ["format": .text(format)], on: payload)
        let unpacked = try fixture.run("unpack", on: packed, in: 1)
        #expect(try StageFixture.snapshot(unpacked) == StageFixture.snapshot(payload))
    }

    @Test func linksAreKept() throws {
        let payload = try folder()
        try fixture.scratch.link("job/.payload/link", to: "a")
        let unpacked = try fixture.run("unpack", on: fixture.run("compress", on: payload), in: 1)
        #expect(try FileTree.list(unpacked.root).links == ["link"])
    }

    @Test func wrongOptions() throws {
        #expect(throws: OptionProblem.self) { try fixture.stage("compress", ["format": "rar"]) }
        #expect(throws: OptionProblem.self) { try fixture.stage("compress", ["format": "zip", "level": "12"]) }
        #expect(throws: OptionProblem.self) { try fixture.stage("compress", ["name": "a/b"]) }
    }
}
