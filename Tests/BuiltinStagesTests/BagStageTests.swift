import BuiltinStages
import Digests
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
            ["manifest-blake3.txt": "not known here"],
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
            (["fetch.txt": "http://example.org/a 3 data/a\n"], "fetch.txt"),
            (["data/a": "abd"], "1 file differs"), (["data/a": nil], "has 0.1"), (["data/c": "abc"], "has 6.3"),
            (["data/c": "abc", "bag-info.txt": nil], "1 is not listed"),
            (["data/a": nil, "bag-info.txt": nil], "1 is missing"),
            (["manifest-sha1.txt": "da39a3ee5e6b4b0d3255bfef95601890afd80709  data/sub/b\n"], "1 is not listed"),
            (["manifest-md5.txt": "\(empty)  notes.txt\n", "notes.txt": ""], "not for it to name"),
            (["manifest-md5.txt": "\(empty)  ../data/a\n"], "not for it to name"),
            (["manifest-md5.txt": "\(empty)  /data/a\n"], "not for it to name"),
            (["manifest-md5.txt": "rubbish\n"], "line 1 of manifest-md5.txt"),
            (["manifest-md5.txt": "\(empty)  data/sub/b\n\(empty)  data/sub/b\n"], "twice"),
            (["tagmanifest-md5.txt": "\(empty)  bagit.txt\n"], "1 file differs"),
            (["tagmanifest-md5.txt": "\(empty)  gone.txt\n"], "1 is missing"),
            (["tagmanifest-md5.txt": "\(empty)  data/a\n"], "not for it to name"),
            (["bag-info.txt": "Payload-Oxum: 4.2\n"], "speaks of 4.2"),
            (["bag-info.txt": "Payload-Oxum: 3.2\npayload-oxum: 3.2\n"], "twice"),
        ] as [([String: String?], String)])
    func invalid(changes: [String: String?], reason: String) throws {
        let failure = try fixture.failure("verify", on: try bag(changes))
        #expect(failure.class == .file)
        let said = reason.hasPrefix("has ") ? "there are \(reason.dropFirst(4))" : reason
        #expect(failure.summary.contains(said), "\(failure.summary)")
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
        let payload = try bag(["aa/bagit.txt": Self.good["bagit.txt"], "fetch.txt": "http://example.org/a 3 data/a\n"])
        #expect(try fixture.failure("verify", on: payload).summary.contains("fetch.txt"))
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

    /// A Python that knows bagit.
    private static let python: Tool? = {
        let own = FilePath(#filePath).removingLastComponent().pushing("../../.build/tools/bin/python3")
        return [Tool(own), Tool.find("python3")].compactMap(\.self).first { python in
            do throws(IOError) { return try python.run(["-c", "import bagit"]).status == 0 } catch { return false }
        }
    }()
}

extension BagStage: ContractSubject {
    // The lists of a bag are UTF-8.
    static var contract: StageContract { StageContract(oddName: "bag.name") }
}
