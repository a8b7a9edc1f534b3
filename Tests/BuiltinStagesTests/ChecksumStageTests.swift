import BuiltinStages
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct ChecksumStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "report.pdf", Array("abc".utf8)) }

    private static let oddNames: [[UInt8]] = [
        Array("plain".utf8), Array("with\nnewline".utf8), Array("back\\slash".utf8), Array("-leading".utf8),
        Array("carriage\rreturn".utf8), Array("V".utf8) + [0xED] + Array("ctor.txt".utf8), Array(" blank ".utf8),
        [UInt8](repeating: UInt8(ascii: "x"), count: 255), Array("folder/deep/file".utf8), Array("*star".utf8),
        Array(".hidden".utf8),
    ]

    private func payload() throws -> Payload {
        try fixture.folderPayload(Self.oddNames.map { ($0, "content \($0.count)") })
    }

    private func expectAccepted(_ manifest: String, of algorithm: String, in payload: Payload) throws {
        let tool = try #require(Tool.find("\(algorithm)sum"))
        let output = try tool.run(["--strict", "-c", "--", manifest], in: payload.root)
        #expect(output.status == 0, "\(output.text)")
    }

    @Test func aSingleFileGetsACompanion() throws {
        let progress = StageProgress()
        let payload = try fixture.run("checksum", progress: progress)
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(payload.companions == [Companion(suffix: ".sha256", parts: [.checksumLine(digest: digest)])])
        #expect(payload.isDrop)
        #expect(progress.totalBytes == 3)
        #expect(progress.bytes == 3)
        #expect(try Folder.names(in: fixture.job.folder).count == 1)
        #expect(try fixture.run("checksum", on: payload) == payload, "a second run adds nothing")
    }

    @Test func severalAlgorithmsInOnePass() throws {
        let payload = try fixture.run("checksum", ["algorithm": ["md5", "sha1", "sha512"]])
        #expect(payload.companions.map(\.suffix) == [".md5", ".sha1", ".sha512"])
    }

    @Test(arguments: ["sha256", "sha512", "sha384", "sha1", "md5"])
    func gnuToolsAcceptTheManifest(algorithm: String) throws {
        let payload = try payload()
        let result = try fixture.run("checksum", ["algorithm": [algorithm]], on: payload)
        #expect(result == payload)
        try expectAccepted("\(algorithm.uppercased())SUMS", of: algorithm, in: payload)
    }

    @Test func theManifestIsSortedAndComplete() throws {
        let payload = try payload()
        let progress = StageProgress()
        try fixture.run("checksum", on: payload, progress: progress)
        let tool = try #require(Tool.find("sha256sum"))
        let sorted = Self.oddNames.sorted { $0.lexicographicallyPrecedes($1) }
        let expected = try tool.run(bytes: [Array("--".utf8)] + sorted, in: payload.root)
        #expect(try ScratchFolder.read(payload.root.appending("SHA256SUMS")) == expected.bytes)
        #expect(progress.entries == Int64(Self.oddNames.count))
    }

    @Test func linksAreNotListed() throws {
        let payload = try payload()
        try fixture.scratch.link("payload/link", to: "plain")
        try fixture.run("checksum", on: payload)
        #expect(!(try fixture.scratch.text("payload/SHA256SUMS")).contains("link"))
    }

    @Test func aNameOfOnesOwn() throws {
        let payload = try payload()
        try fixture.run("checksum", ["manifest": ["sums.txt"]], on: payload)
        try expectAccepted("sums.txt", of: "sha256", in: payload)
    }

    @Test func ourManifestStepsAside() throws {
        let payload = try fixture.folderPayload([
            (Array("a".utf8), "x"), (Array("SHA256SUMS".utf8), "somebody's own"), (Array("SHA256SUMS.2/f".utf8), "y"),
        ])
        for _ in 0..<3 {
            try fixture.run("checksum", on: payload)
            #expect(try fixture.scratch.text("payload/SHA256SUMS") == "somebody's own")
            try expectAccepted("SHA256SUMS.3", of: "sha256", in: payload)
            let listed = try fixture.scratch.text("payload/SHA256SUMS.3").split(separator: "\n").map {
                $0.dropFirst(66)
            }
            #expect(listed == ["SHA256SUMS", "SHA256SUMS.2/f", "a"])
            #expect(try payload.files().count == 4)
        }
    }

    /// sha256sum -c does not accept an empty list, so there is none where there is no file to list.
    @Test func noFilesNoManifest() throws {
        let payload = try fixture.folderPayload([])
        try fixture.scratch.makeFolder("payload/folder")
        try fixture.scratch.link("payload/link", to: "folder")
        for _ in 0..<2 {
            try fixture.run("checksum", ["algorithm": ["sha256", "md5"]], on: payload)
            #expect(try payload.files().isEmpty)
        }
    }

    @Test func anEmptyManifestIsThePayloadsOwn() throws {
        let payload = try fixture.folderPayload([(Array("SHA256SUMS".utf8), "")])
        for _ in 0..<2 {
            try fixture.run("checksum", on: payload)
            #expect(try payload.files().map(\.relative) == ["SHA256SUMS", "SHA256SUMS.2"])
            try expectAccepted("SHA256SUMS.2", of: "sha256", in: payload)
        }
    }

    @Test func severalManifestsKnowEachOther() throws {
        let payload = try payload()
        try fixture.run("checksum", ["algorithm": ["sha256", "md5"]], on: payload)
        let first = try StageFixture.snapshot(payload)
        try fixture.run("checksum", ["algorithm": ["sha256", "md5"]], on: payload)
        #expect(try StageFixture.snapshot(payload) == first)
        #expect(first.count == Self.oddNames.count + 2)
        // The second one is missing, as after a crash between the two.
        try Folder.remove(payload.root.appending("MD5SUMS"))
        try fixture.run("checksum", ["algorithm": ["sha256", "md5"]], on: payload)
        #expect(try StageFixture.snapshot(payload) == first)
    }

    @Test func aDraftOfAnEarlierAttemptIsNoFile() throws {
        let payload = try payload()
        try fixture.scratch.write("half", to: "payload/.manifest-\(fixture.job.id)")
        try fixture.run("checksum", on: payload)
        #expect(try payload.files().count == Self.oddNames.count + 1)
    }

    @Test func manyFiles() throws {
        let payload = try fixture.folderPayload((0..<1000).map { (Array("f\($0)".utf8), "content \($0)") })
        try fixture.run("checksum", on: payload)
        try expectAccepted("SHA256SUMS", of: "sha256", in: payload)
    }

    @Test func wrongOptions() throws {
        #expect(throws: OptionProblem.self) { try fixture.stage("checksum", ["algorithm": ["sha265"]]) }
        #expect(throws: OptionProblem.self) { try fixture.stage("checksum", ["algorithm": []]) }
        #expect(throws: OptionProblem.self) { try fixture.stage("checksum", ["algorithm": ["md5", "md5"]]) }
        #expect(throws: OptionProblem.self) { try fixture.stage("checksum", ["manifest": ["a/b"]]) }
        #expect(throws: OptionProblem.self) {
            try fixture.stage("checksum", ["algorithm": ["md5", "sha1"], "manifest": ["sums"]])
        }
    }
}
