import BuiltinStages
import Digests
import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// The stages `bag` and `verify` on BagIt bags: those that RFC 8493 describes, valid and not.
@Suite struct BagStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "bag.zip", Array("abc".utf8)) }

    /// A bag as a text of files, good in all respects; tests change one.
    private static let good: [String: String] = [
        "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-8\n",
        "data/a": "abc", "data/sub/b": "",
        "manifest-md5.txt":
            "900150983cd24fb0d6963f7d28e17f72  data/a\nd41d8cd98f00b204e9800998ecf8427e  data/sub/b\n",
        "bag-info.txt": "Payload-Oxum: 3.2\nContact-Name: Somebody\n",
    ]

    private func bag(_ changes: [String: String?], below folder: String = "") throws -> Payload {
        var files = Self.good
        for (name, text) in changes { files[name] = text }
        return try fixture.folderPayload(files.map { (Array((folder + $0.key).utf8), $0.value) })
    }

    /// Big-endian without a mark; these characters need no more than a zero before each.
    private static func utf16(_ text: String) -> String { text.map { "\0\($0)" }.joined() }

    private static let declaration = "Tag-File-Character-Encoding: UTF-8\n"
    private static let empty = "d41d8cd98f00b204e9800998ecf8427e"

    @Test(
        arguments: [
            [:],
            ["bag-info.txt": nil],
            ["bagit.txt": "BagIt-Version: 0.93\r\n\(declaration)"],
            ["bagit.txt": "BagIt-Version: 0.94\r\(declaration)"],
            ["bagit.txt": "BagIt-Version: 0.95\n\(declaration)"], ["bagit.txt": "BagIt-Version: 0.96\n\(declaration)"],
            ["bagit.txt": "BagIt-Version: 0.97\nTag-File-Character-Encoding: UTF-8"],
            // A star, several blanks, a tab, upper case, a leading `./`.
            [
                "manifest-md5.txt":
                    "900150983CD24FB0D6963F7D28E17F72 *data/a\nd41d8cd98f00b204e9800998ecf8427e \t ./data/sub/b\n"
            ],
            // Encoded names, and a percent sign that is not encoded.
            [
                "data/c\nd": "", "data/100%": "", "data/e%0Af": "", "bag-info.txt": nil,
                "manifest-md5.txt": good["manifest-md5.txt", default: ""]
                    + "\(empty)  data/c%0ad\n\(empty)  data/100%\n\(empty)  data/e%250Af\n",
            ],
            ["tagmanifest-md5.txt": "\(empty)  notes.txt\n", "notes.txt": ""],
            // What was to be fetched is there.
            ["fetch.txt": "http://example.org/a 3 data/a\r\nhttp://example.org/b - data/sub/b\n"],
            [
                "manifest-sha224.txt": "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7  data/a\n"
                    + "d14a028c2a3a2bc9476102bb288234c415a2b01f828ea62ac5b3e42f  data/sub/b\n",
                "manifest-sha3_224.txt": "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf  data/a\n"
                    + "6b4e03423667dbb73b6e15454f0eb1abd4597f9a1b078e3f5b5a6bc7  data/sub/b\n",
            ],
            ["manifest-tiger.txt": "not known here"],
            ["bagit.txt": "BagIt-Version: 1.0 \nTag-File-Character-Encoding: UTF-8\n"],
            ["bag-info.txt": "Payload-Oxum: 3.2\nPayload-Oxum-Note: twice\nNote: goes\n  on: here\n"],
            [
                "manifest-sha3256.txt": "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532  data/a\n"
                    + "a7ffc6f8bf1ed76651c14756a061d662f580ff4de43b49fa82d80a4b80f8434a  data/sub/b\n"
            ],
            [
                "bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: UTF-16\n",
                "manifest-md5.txt": utf16(good["manifest-md5.txt", default: ""]),
                "bag-info.txt": utf16("Payload-Oxum: 3.2\n"),
            ],
            // Before 1.0 two manifests may share the files.
            [
                "bagit.txt": "BagIt-Version: 0.97\n\(declaration)",
                "manifest-md5.txt": "900150983cd24fb0d6963f7d28e17f72  data/a\n",
                "manifest-sha1.txt": "da39a3ee5e6b4b0d3255bfef95601890afd80709  data/sub/b\n",
            ],
        ] as [[String: String?]])
    func valid(changes: [String: String?]) throws {
        for folder in ["", "my bag/"] {
            let payload = try bag(changes, below: folder)
            #expect(try fixture.run("verify", on: payload) == payload)
            try Folder.remove(payload.root)
        }
    }

    @Test(
        arguments: [
            (["bagit.txt": "BagIt-Version: 2.0\n\(declaration)"], "its version 2.0 is not among"),
            (["bagit.txt": "BagIt-Version: 0.92\n\(declaration)"], "its version 0.92 is not among"),
            (["bagit.txt": "\u{FEFF}BagIt-Version: 1.0\n\(declaration)"], "bagit.txt must hold"),
            (["bagit.txt": "BagIt-Version: 1.0\n"], "bagit.txt must hold"),
            (["bagit.txt": "BagIt-Version: 1.0\n\(declaration)more: than this\n"], "bagit.txt must hold"),
            (["bagit.txt": "BagIt-Version: 1.0\nTag-File-Character-Encoding: EBCDIC\n"], "are in EBCDIC"),
            (["bag-info.txt": "no label\n"], "line 1 of bag-info.txt"),
            (["data/a": nil, "data/sub/b": nil], "no folder 'data'"),
            (["manifest-md5.txt": nil], "no manifest with a known algorithm"),
            (["fetch.txt": "http://example.org/a 3 data/a\n", "data/a": nil], "1 is missing"),
            (["fetch.txt": "http://example.org/c - data/c\n"], "1 is missing"),
            (["fetch.txt": "http://example.org/c - data/c\n", "data/c": "x"], "1 is not listed"),
            (["fetch.txt": "http://example.org/a data/a\n"], "line 1 of fetch.txt"),
            (["fetch.txt": "\nhttp://example.org/a 3 ../a\n"], "leads out of the bag"),
            (["manifest-md5.txt": nil, "manifest-whirlpool.txt": "x"], "only manifest-whirlpool.txt"),
            // Each file is named before the sum of all of them.
            (["data/a": "abd"], "1 file differs"), (["data/a": nil], "1 is missing"),
            (["data/c": "abc"], "1 is not listed"), (["data/sub/b": "x"], "1 file differs"),
            (["manifest-sha1.txt": "da39a3ee5e6b4b0d3255bfef95601890afd80709  data/sub/b\n"], "1 is not listed"),
            (["manifest-md5.txt": "\(empty)  notes.txt\n", "notes.txt": ""], "which it must not list"),
            (["manifest-md5.txt": "\(empty)  ../data/a\n"], "which it must not list"),
            (["manifest-md5.txt": "\(empty)  /data/a\n"], "which it must not list"),
            (["manifest-md5.txt": "rubbish\n"], "line 1 of manifest-md5.txt"),
            (["manifest-md5.txt": "\(empty)  data/sub/b\n\(empty)  data/sub/b\n"], "twice"),
            (["tagmanifest-md5.txt": "\(empty)  bagit.txt\n"], "1 file differs"),
            (["tagmanifest-md5.txt": "\(empty)  gone.txt\n"], "1 is missing"),
            (["tagmanifest-md5.txt": "\(empty)  data/a\n"], "which it must not list"),
            (["bag-info.txt": "Payload-Oxum: 4.2\n"], "declares 4.2"),
            (["bag-info.txt": "Payload-Oxum: 3.2\npayload-oxum: 3.2\n"], "twice"),
        ] as [([String: String?], String)])
    func invalid(changes: [String: String?], reason: String) throws {
        let failure = try fixture.failure("verify", on: try bag(changes))
        #expect(failure.class == .file)
        #expect(failure.summary.contains(reason), "\(failure.summary)")
        #expect(!failure.remedy.isEmpty)
    }

    @Test func whatIsMadeIsValid() throws {
        let names: [[UInt8]] = [
            Array("a".utf8), Array("b/c d".utf8), Array("line\nbreak".utf8), Array("märz".utf8),
            Array("50%".utf8),
        ]
        let payload = try fixture.folderPayload(names.map { ($0, "content \($0.count)") })
        let options: Options = ["algorithm": ["sha256", "md5"], "info": ["External-Identifier": "{stem}"]]
        let bag = try fixture.run("bag", options, on: payload)
        #expect(try bag.files().count == names.count + 6)
        let info = String(decoding: try ScratchFolder.read(bag.root.appending("bag-info.txt")), as: UTF8.self)
        #expect(info.hasPrefix("External-Identifier: bag\nBagging-Date: 2023-11-1"))
        #expect(info.hasSuffix("Payload-Oxum: \(names.map { "content \($0.count)".utf8.count }.reduce(0, +)).5\n"))
        try fixture.run("verify", on: bag)
    }

    /// Whoever sends a bag must not be able to have it taken for none.
    @Test func anotherDeclarationHidesNothing() throws {
        let payload = try bag(["aa/bagit.txt": Self.good["bagit.txt"], "data/a": "abd"])
        #expect(try fixture.failure("verify", on: payload).detail == "differs: data/a")
    }

    @Test func whatIsToBeFetchedIsNotFetched() throws {
        let payload = try bag(["fetch.txt": "http://example.org/a 3 data/a\n", "data/a": nil])
        let failure = try fixture.failure("verify", on: payload)
        #expect(failure.detail == "missing: data/a")
        #expect(failure.remedy.contains("fetch what 'fetch.txt' lists"))
    }

    /// What the specification warns of is told, and fails nothing.
    @Test func warnings() throws {
        let digest = "900150983cd24fb0d6963f7d28e17f72"
        let payload = try bag([
            "bagit.txt": "BagIt-Version: 0.97\n\(Self.declaration)", "manifest-whirlpool.txt": "any",
            "manifest-md5.txt": "\(digest) *data/a\n\(digest)  ./data/a\n\(Self.empty)  ./data/sub/b\n",
        ])
        let notes = StageNotes()
        try fixture.run("verify", on: payload, notes: notes)
        #expect(
            notes.text == """
                manifest-whirlpool.txt is not checked: its algorithm is unknown
                manifest-md5.txt: a '*' before 1 of the paths, as md5sum writes it
                manifest-md5.txt: 2 of the paths begin with './'
                manifest-md5.txt: repeated lines: 1
                """)
    }

    @Test func linksAreNoPartOfABag() throws {
        let payload = try bag([:])
        try fixture.scratch.link("job/.payload/data/link", to: "a")
        #expect(try fixture.failure("verify", on: payload).detail.contains("not listed: data/link"))
    }

    @Test func namesThatAreNoUTF8() throws {
        let payload = try fixture.folderPayload([(Array("V".utf8) + [0xED], "x")])
        #expect(try fixture.failure("bag", on: payload).code == "bag.name")
    }

    @Test func aSingleFileAndNothing() throws {
        let bag = try fixture.run("bag")
        #expect(try ScratchFolder.read(bag.root.appending("data").appending("bag.zip")) == Array("abc".utf8))
        #expect(Folder.kind(of: fixture.job.original) == .regular)
        try fixture.run("verify", on: bag)
        let empty = try fixture.folderPayload([])
        try fixture.run("verify", on: try fixture.run("bag", on: empty))
    }

    @Test func linksAreNoFiles() throws {
        let payload = try fixture.folderPayload([(Array("a".utf8), "x")])
        try fixture.scratch.link("job/.payload/link", to: "a")
        #expect(try fixture.failure("bag", on: payload).code == "bag.link")
    }

    /// The Library of Congress's own tool; it does not decode `%25`, so no name has a percent sign.
    @Test(.enabled(if: python != nil, "needs Python's bagit; packaging/install-build-deps.sh --test installs it"))
    func otherToolsAcceptIt() throws {
        let payload = try fixture.folderPayload([
            (Array("a".utf8), "x"), (Array("b/c d".utf8), "y"), (Array("line\nbreak".utf8), "z"),
            (Array("märz".utf8), ""),
        ])
        let bag = try fixture.run("bag", ["algorithm": ["sha512", "sha256", "md5"]], on: payload)
        let python = try #require(Self.python)
        let output = try python.run(["-m", "bagit", "--validate", bag.root.string])
        #expect(output.status == 0, "\(output.text)")
    }

    /// The same tool's bags, with what it can do and RFC 8493 names.
    @Test(.enabled(if: python != nil, "needs Python's bagit; packaging/install-build-deps.sh --test installs it"))
    func bagsOfOtherTools() throws {
        let payload = try fixture.folder(["a": "x", "b/c d": "y", "100%": "z", "märz": ""])
        let python = try #require(Self.python)
        let functions = ["md5", "sha1", "sha224", "sha256", "sha384", "sha512", "sha3_256", "sha3_384", "blake2b"]
        let output = try python.run(["-m", "bagit"] + functions.map { "--\($0)" } + [payload.root.string])
        try #require(output.status == 0, "\(output.text)")
        let notes = StageNotes()
        try fixture.run("verify", ["bag": "true"], on: payload, notes: notes)
        #expect(notes.text == nil)
        try fixture.scratch.write("else", to: "job/.payload/data/a")
        #expect(try fixture.failure("verify", on: payload).detail == "differs: data/a")
    }

    /// A Python that knows bagit.
    private static let python = Tool.python(with: "bagit")
}

extension BagStage: ContractSubject {
    // The lists of a bag are UTF-8.
    static var contract: StageContract { StageContract(oddName: "bag.name") }
}
