import BuiltinStages
import Files
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

    @Test func aSingleFileGetsASidecar() throws {
        let progress = StageProgress()
        let payload = try fixture.run("checksum", progress: progress)
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        let line: [Sidecar.Part] = [.escapeMark, .text("\(digest)  "), .name(.checksumList), .text("\n")]
        #expect(payload.sidecars == [Sidecar(suffix: ".sha256", parts: line)])
        #expect(payload.isDrop)
        #expect(progress.totalBytes == 3)
        #expect(progress.bytes == 3)
        #expect(try Folder.names(in: fixture.job.folder).count == 1)
        #expect(try fixture.run("checksum", on: payload) == payload, "a second run adds nothing")
    }

    @Test func aSingleFileGetsALineInstead() throws {
        let payload = try fixture.run("checksum", ["into": "list", "algorithm": ["sha256", "md5"]])
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(payload.sidecars == [])
        #expect(payload.lines.map(\.list.text) == ["SHA256SUMS", "MD5SUMS"])
        #expect(payload.digests["sha256"] == digest)
        let line = try #require(payload.lines.first)
        #expect(line.text(for: try #require(FileName("report.2.pdf"))).bytes == Array("\(digest)  report.2.pdf\n".utf8))
        #expect(
            line.text(for: try #require(FileName("a\n\\b"))).bytes == Array("\\\(digest)  a\\n\\\\b\n".utf8))
        #expect(try fixture.run("checksum", ["into": "list", "algorithm": ["sha256", "md5"]], on: payload) == payload)
    }

    @Test(arguments: ["gnu", "bsd"]) func linesAreThoseOfSidecars(format: String) throws {
        for algorithm in ["sha256", "md5", "xxh3-64", "blake2b"] {
            let options: Options = ["algorithm": .text(algorithm), "format": .text(format)]
            let sidecar = try #require(try fixture.run("checksum", options).sidecars.first)
            let listing: Options = [
                "algorithm": .text(algorithm), "format": .text(format), "into": "list", "manifest": "SUMS",
            ]
            let stage = try fixture.stage("checksum", listing)
            #expect(stage.lists.map(\.text) == ["SUMS"])
            let line = try #require(try fixture.run("checksum", listing).lines.first)
            for name in ["plain", "back\\slash", "new\nline"] {
                let name = try #require(FileName(name))
                #expect(line.text(for: name).bytes == sidecar.contents(for: name))
            }
        }
    }

    @Test func aFolderHasItsManifestAllTheSame() throws {
        let payload = try fixture.folderPayload([(Array("a".utf8), "x")])
        let result = try fixture.run("checksum", ["into": "list"], on: payload)
        #expect(result == payload)
        try expectAccepted("SHA256SUMS", of: "sha256", in: payload)
        #expect(try fixture.stage("checksum", [:]).lists == [])
    }

    static let impossible: [(Options, String)] = [
        (["into": "list", "mode": "sidecar"], "'mode: sidecar' a sidecar for each file"),
        (["into": "list", "format": "json"], "'format: json' has no lines"),
        (["into": "list", "manifest": "X", "algorithm": ["md5", "sha1"]], "'manifest' names one file"),
        (["into": "file"], "file"),
    ]

    @Test(arguments: impossible)
    func listsThatCannotBe(options: Options, problem: String) throws {
        let found = #expect(throws: OptionProblem.self) { try fixture.stage("checksum", options) }
        #expect(found?.message.contains(problem) == true, "\(String(describing: found))")
    }

    @Test func severalAlgorithmsInOnePass() throws {
        let payload = try fixture.run("checksum", ["algorithm": ["md5", "sha1", "sha512"]])
        #expect(payload.sidecars.map(\.suffix) == [".md5", ".sha1", ".sha512"])
    }

    @Test(
        arguments: [
            ("sha256", "sha256", "SHA256SUMS"), ("sha512", "sha512", "SHA512SUMS"), ("sha384", "sha384", "SHA384SUMS"),
            ("sha1", "sha1", "SHA1SUMS"), ("md5", "md5", "MD5SUMS"), ("blake2b", "b2", "B2SUMS"),
        ], ["gnu", "bsd"])
    func gnuToolsAcceptTheManifest(case: (algorithm: String, tool: String, list: String), format: String) throws {
        let payload = try payload()
        let options: Options = ["algorithm": .text(`case`.algorithm), "format": .text(format)]
        let result = try fixture.run("checksum", options, on: payload)
        #expect(result == payload)
        try expectAccepted(`case`.list, of: `case`.tool, in: payload)
    }

    @Test(.enabled(if: Tool.find("xxh128sum") != nil, Comment(rawValue: Tool.skip("xxhash"))))
    func xxhashAcceptsTheManifest() throws {
        // Its tool knows no escapes in names.
        let payload = try fixture.folderPayload([(Array("a".utf8), "x"), (Array("b/c d".utf8), "y")])
        for format in ["gnu", "bsd"] {
            let name = "\(format).txt"
            try fixture.run(
                "checksum", ["algorithm": ["xxh3-128"], "format": .text(format), "manifest": .text(name)], on: payload)
            let tool = try #require(Tool.find("xxh128sum"))
            let output = try tool.run(["-c", name], in: payload.root)
            #expect(output.status == 0, "\(output.text)")
            try Folder.remove(payload.root.appending(name))
        }
    }

    /// The digests in OpenSSL's own words, for those that no GNU tool has.
    @Test(arguments: ["sha3-256", "sha3-512"])
    func opensslAgrees(algorithm: String) throws {
        let payload = try fixture.run("checksum", ["algorithm": .text(algorithm)])
        let tool = try #require(Tool.find("openssl"))
        let output = try tool.run(["dgst", "-\(algorithm)", "-r", fixture.job.original.string])
        #expect(payload.digests[algorithm].map { output.text.hasPrefix($0) } == true)
    }

    /// `cksum -c` of coreutils 9 reads lists of several algorithms.
    @Test func severalAlgorithmsInOneList() throws {
        let payload = try payload()
        let options: Options = [
            "algorithm": ["sha256", "md5", "blake2b"], "format": ["bsd"], "manifest": ["CHECKSUMS"],
        ]
        try fixture.run("checksum", options, on: payload)
        let lines = try fixture.scratch.text("job/.payload/CHECKSUMS").split(separator: "\n")
        #expect(lines.count == 3 * Self.oddNames.count)
        try expectAccepted("CHECKSUMS", of: "ck", in: payload)
        try fixture.run("checksum", options, on: payload)
        #expect(try payload.files().count == Self.oddNames.count + 1)
    }

    @Test func asJSON() throws {
        let payload = try fixture.folderPayload([(Array("a\"b".utf8), "abc"), ([0xED], "")])
        let options: Options = [
            "algorithm": ["md5", "crc32c"], "format": ["json"], "manifest": ["sums.json"],
        ]
        for _ in 0..<2 {
            try fixture.run("checksum", options, on: payload)
            #expect(
                try fixture.scratch.text("job/.payload/sums.json") == """
                    {"files":[{"path":"a\\"b","md5":"900150983cd24fb0d6963f7d28e17f72","crc32c":"364b3fb7"},\
                    {"path":"\\\\xED","path_base64":"7Q==","md5":"d41d8cd98f00b204e9800998ecf8427e",\
                    "crc32c":"00000000"}]}

                    """)
        }
        #expect(try payload.files().count == 3)
    }

    @Test(arguments: [
        ("gnu", ".crc32c", "364b3fb7  r\n"), ("bsd", ".crc32c", "CRC32C (r) = 364b3fb7\n"),
        ("json", ".crc32c.json", #"{"files":[{"path":"r","crc32c":"364b3fb7"}]}"# + "\n"),
    ])
    func sidecarsOfAnyFormat(format: String, suffix: String, text: String) throws {
        let payload = try fixture.run("checksum", ["algorithm": ["crc32c"], "format": .text(format)])
        let sidecar = try #require(payload.sidecars.first)
        #expect(sidecar.suffix == suffix)
        #expect(String(decoding: sidecar.contents(for: try #require(FileName("r"))), as: UTF8.self) == text)
    }

    @Test func aFileBesideEach() throws {
        let payload = try fixture.folderPayload([
            (Array("a".utf8), "x"), (Array("b/c".utf8), "y"), (Array("d".utf8), "z"),
            (Array("d.md5".utf8), "somebody's own"),
        ])
        var first: [[UInt8]]?
        for _ in 0..<3 {
            try fixture.run("checksum", ["algorithm": ["md5"], "mode": ["sidecar"]], on: payload)
            let names = try payload.files().map(\.relative.string)
            #expect(names == ["a", "a.md5", "b/c", "b/c.md5", "d", "d.2.md5", "d.md5", "d.md5.md5"])
            #expect(try fixture.scratch.text("job/.payload/d.md5") == "somebody's own")
            for name in ["a.md5", "d.2.md5", "d.md5.md5"] { try expectAccepted(name, of: "md5", in: payload) }
            #expect(try fixture.scratch.text("job/.payload/b/c.md5") == "415290769594460e2e485922904f345d  c\n")
            let snapshot = try StageFixture.snapshot(payload)
            #expect(snapshot == first ?? snapshot)
            first = snapshot
        }
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
        try fixture.scratch.link("job/.payload/link", to: "plain")
        try fixture.run("checksum", on: payload)
        #expect(!(try fixture.scratch.text("job/.payload/SHA256SUMS")).contains("link"))
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
            #expect(try fixture.scratch.text("job/.payload/SHA256SUMS") == "somebody's own")
            try expectAccepted("SHA256SUMS.3", of: "sha256", in: payload)
            let listed = try fixture.scratch.text("job/.payload/SHA256SUMS.3").split(separator: "\n").map {
                $0.dropFirst(66)
            }
            #expect(listed == ["SHA256SUMS", "SHA256SUMS.2/f", "a"])
            #expect(try payload.files().count == 4)
        }
    }

    /// sha256sum -c does not accept an empty list, so there is none where there is no file to list.
    @Test func noFilesNoManifest() throws {
        let payload = try fixture.folderPayload([])
        try fixture.scratch.makeFolder("job/.payload/folder")
        try fixture.scratch.link("job/.payload/link", to: "folder")
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
        try fixture.scratch.write("half", to: "job/.payload/.manifest-\(fixture.job.id)")
        try fixture.run("checksum", on: payload)
        #expect(try payload.files().count == Self.oddNames.count + 1)
    }

    /// An archive may hold very many names of one file.
    @Test func aFileOfManyNamesIsReadOnce() throws {
        let payload = try fixture.folderPayload([(Array("0".utf8), String(repeating: "x", count: 1 << 20))])
        for number in 1..<2000 {
            try #require(link(payload.root.appending("0").string, payload.root.appending("\(number)").string) == 0)
        }
        let progress = StageProgress()
        try fixture.run("checksum", on: payload, progress: progress)
        #expect(progress.entries == 2000)
        // Several threads may meet it at the same time.
        #expect(progress.bytes <= Int64(sysconf(Int32(_SC_NPROCESSORS_ONLN))) << 20)
        try expectAccepted("SHA256SUMS", of: "sha256", in: payload)
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
        #expect(throws: OptionProblem.self) {
            try fixture.stage("checksum", ["mode": ["sidecar"], "manifest": ["sums"]])
        }
    }

    // MARK: SFV

    @Test func listsForSFV() throws {
        let payload = try fixture.folder(["a": "abc", "sub/b c": "", "#d": "abc"])
        try fixture.run("checksum", ["format": "sfv"], on: payload)
        let list = String(decoding: try ScratchFolder.read(payload.root.appending("files.sfv")), as: UTF8.self)
        #expect(list == "#d 352441C2\na 352441C2\nsub/b c 00000000\n")
        try fixture.run("verify", on: payload)
        #expect(try fixture.run("checksum", ["format": "sfv"], on: payload) == payload, "a second run adds nothing")
        #expect(try fixture.names(payload).count == 4)
    }

    @Test func aFileForSFV() throws {
        let payload = try fixture.run("checksum", ["format": "sfv"])
        let sidecar = try #require(payload.sidecars.first)
        #expect(sidecar.suffix == ".sfv")
        let name = try #require(FileName("report.2.pdf"))
        #expect(sidecar.contents(for: name) == Array("report.2.pdf 352441C2\n".utf8))
        #expect(payload.digests["crc32"] == "352441c2")
    }

    @Test func besideEachFileForSFV() throws {
        let payload = try fixture.folder(["a": "abc", "sub/b c": ""])
        let options: Options = ["format": "sfv", "mode": "sidecar", "algorithm": "crc32"]
        try fixture.run("checksum", options, on: payload)
        #expect(try fixture.names(payload) == ["a", "a.sfv", "sub/b c", "sub/b c.sfv"])
        try fixture.run("verify", on: payload)
    }

    @Test(arguments: ["new\nline", " blank", "blank ", ";comment"])
    func namesThatNoSFVHolds(name: String) throws {
        let payload = try fixture.folderPayload([(Array(name.utf8), "x")])
        #expect(try fixture.failure("checksum", ["format": "sfv"], on: payload).code == "checksum.name")
        let alone = try StageFixture(drop: name, [1])
        #expect(try alone.failure("checksum", ["format": "sfv"]).code == "checksum.name")
    }

    @Test func nothingButCRC32IsInSFV() {
        for algorithm: Options in ["sha256", ["crc32", "md5"]] {
            #expect(throws: OptionProblem.self) {
                try fixture.stage("checksum", ["format": "sfv", "algorithm": algorithm])
            }
        }
    }
}
