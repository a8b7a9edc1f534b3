import BuiltinStages
import Digests
import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct VerifyStageTests {
    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "report.pdf", Array("abc".utf8)) }

    private static let abc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"

    private func payload(_ files: KeyValuePairs<String, String>) throws -> Payload {
        try fixture.folderPayload(files.map { (Array($0.utf8), $1) })
    }

    @Test(arguments: [
        ("SHA256SUMS", "\(abc)  a\n"), ("SHA256SUMS", "\(abc) *./a\r\n# said by nobody\n\n"),
        ("SHA256SUMS.txt", "\(abc)  a\n"), ("a.md5", "900150983cd24fb0d6963f7d28e17f72\n"),
        ("a.md5", "900150983CD24FB0D6963F7D28E17F72  a\n"), ("list.sha256", "SHA256 (a) = \(abc)\n"),
        ("files.sfv", "; made by hand\na 352441C2\n"), ("a.crc32c", "364b3fb7  a\n"),
        ("CRC32CSUMS", "364b3fb7  a\n"),
    ])
    func listsOfManyForms(name: String, text: String) throws {
        let payload = try fixture.folderPayload([(Array("a".utf8), "abc"), (Array(name.utf8), text)])
        #expect(try fixture.run("verify", on: payload) == payload)
        try fixture.scratch.write("abd", to: "job/.payload/a")
        #expect(try fixture.failure("verify", on: payload).code == "verify.differs")
    }

    @Test func whatChecksumWroteIsTrue() throws {
        let names = ["plain", "with\nnewline", "back\\slash", "deep/er", "cr\rcr", " blank "]
        for options: Options in [
            [:], ["algorithm": ["md5", "xxh3-128", "blake2b"]], ["algorithm": "sha3-512", "format": "bsd"],
            ["algorithm": "crc32c", "mode": "sidecar"], ["algorithm": "crc32"],
            ["algorithm": ["xxh3-64", "xxh64", "xxh32", "blake3", "sha224", "sha3-384"]],
            ["algorithm": ["xxh3-64", "blake2b"], "format": "bsd", "mode": "sidecar"],
        ] {
            let payload = try fixture.folderPayload(names.map { (Array($0.utf8), "content of \($0)") })
            try fixture.run("checksum", options, on: payload)
            try fixture.run("verify", on: payload)
            try fixture.scratch.write("else", to: "job/.payload/plain")
            let failure = try fixture.failure("verify", on: payload)
            #expect(failure.detail == "differs: plain")
            try Folder.remove(payload.root)
        }
    }

    @Test func everythingThatIsWrongIsNamed() throws {
        let payload = try payload([
            "SHA256SUMS": "\(Self.abc)  a\n\(Self.abc)  b\n\(Self.abc)  gone\n\(Self.abc)  sub/gone\n", "a": "abc",
            "b": "other", "more": "x",
        ])
        let failure = try fixture.failure("verify", on: payload)
        #expect(failure.class == .file)
        #expect(
            failure.summary
                == "'report.pdf' does not match what its list 'SHA256SUMS' says: 1 file differs, 2 are missing, 1 is "
                + "not listed."
        )
        #expect(failure.detail == "differs: b\nmissing: gone\nmissing: sub/gone\nnot listed: more")
    }

    /// However long a list is, what is kept of it is not.
    @Test func endlessLists() throws {
        let missing = (0..<20_000).map { "\(Self.abc)  m\($0)\n" }.joined()
        let wrong = (10..<90).map { "\(Self.abc.dropLast(2))\($0)  a\n" }.joined()
        let payload = try payload(["SHA256SUMS": "\(Self.abc)  a\n" + wrong + missing + missing, "a": "abc"])
        let failure = try fixture.failure("verify", on: payload)
        #expect(failure.summary.contains("1 file differs, more than 1000 are missing"))
    }

    @Test func filesThatNoListNamesMayBeAllowed() throws {
        let payload = try payload(["SHA256SUMS": "\(Self.abc)  a\n", "a": "abc", "more": "x"])
        #expect(try fixture.failure("verify", on: payload).detail == "not listed: more")
        try fixture.run("verify", ["extra": "allow"], on: payload)
    }

    @Test(arguments: ["/etc/passwd", "../x", "a/../../x", ""])
    func pathsThatLeadOut(path: String) throws {
        let payload = try payload(["SHA256SUMS": "\(Self.abc)  \(path)\n", "a": "abc"])
        #expect(try fixture.failure("verify", on: payload).code == "verify.list")
    }

    @Test(arguments: ["no digest at all\n", "abcd  a\n", "\(abc)  a\nrest"])
    func whatIsNoList(text: String) throws {
        let payload = try payload(["SHA256SUMS": text, "a": "abc"])
        #expect(try fixture.failure("verify", on: payload).code == "verify.list")
    }

    /// A list that says nothing is a file like any other, and a link is one that nobody named.
    @Test(arguments: ["SHA256SUMS", "evil.sfv", "a.md5"])
    func listsThatSayNothing(name: String) throws {
        for text in ["", "; anything\n"] {
            let alone = try fixture.folderPayload([(Array("a".utf8), "abc"), (Array(name.utf8), text)])
            #expect(try fixture.failure("verify", ["extra": "allow"], on: alone).code == "verify.nothing")
            try fixture.scratch.write("\(Self.abc)  a\n", to: "job/.payload/more.sha256")
            #expect(try fixture.failure("verify", on: alone).detail == "not listed: \(name)")
            try Folder.remove(alone.root)
        }
    }

    @Test func linksAreNamedByNoList() throws {
        let payload = try payload(["SHA256SUMS": "\(Self.abc)  a\n", "a": "abc"])
        try fixture.scratch.link("job/.payload/link", to: "a")
        #expect(try fixture.failure("verify", on: payload).detail == "not listed: link")
    }

    @Test(arguments: ["sha256summary.txt", "SHA256SUMS.json", "md5summer"])
    func otherFilesAreNoLists(name: String) throws {
        let payload = try fixture.folderPayload([(Array("a".utf8), "abc"), (Array(name.utf8), "some words")])
        #expect(try fixture.failure("verify", on: payload).code == "verify.nothing")
    }

    /// What lies there and could not be read is named, whether anything else speaks for the payload or not.
    @Test(arguments: [
        ("SHA256SUMS.json", "{}", "lists of this kind are not supported"),
        ("checksums.txt", "some words\n", "Line 1 of the list"),
        ("CHECKSUMS", "\(abc)  ../a\n", "leads out of its folder"),
        ("a.whirlpool", "00  a\n", "lists of this kind are not supported"),
    ])
    func listsThatCannotBeRead(name: String, text: String, reason: String) throws {
        let alone = try fixture.folderPayload([(Array("a".utf8), "abc"), (Array(name.utf8), text)])
        let failure = try fixture.failure("verify", on: alone)
        #expect(failure.code == "verify.nothing")
        #expect(failure.summary.contains("'\(name)' is present, but"), "\(failure.summary)")
        #expect(failure.summary.contains(reason), "\(failure.summary)")
        let notes = StageNotes()
        try fixture.run("verify", ["require": "false"], on: alone, notes: notes)
        #expect(notes.text?.contains("'\(name)' is present, but") == true)
        try fixture.scratch.write("\(Self.abc)  a\n", to: "job/.payload/SHA256SUMS")
        #expect(try fixture.failure("verify", on: alone).detail == "not listed: \(name)")
        try fixture.run("verify", ["extra": "allow"], on: alone, notes: notes)
    }

    /// Only beside a list that was read.
    @Test func signaturesNeedNoListing() throws {
        let payload = try payload([
            "SHA256SUMS": "\(Self.abc)  a\n", "a": "abc", "SHA256SUMS.sig": "\u{1}", "MD5SUMS.sig": "\u{1}",
            "SHA256SUMS.asc": "-----BEGIN PGP SIGNATURE-----\n\nabc=\n-----END PGP SIGNATURE-----\n",
        ])
        #expect(try fixture.failure("verify", on: payload).detail == "not listed: MD5SUMS.sig")
    }

    /// Whatever is called like one is named, and is no larger than one.
    @Test(arguments: [(".sig", "\u{1}"), (".asc", "just words"), (".sig", ""), (".gpg", "MZ")])
    func whatIsTakenForASignature(ending: String, content: String) throws {
        for count in [1, 200_000] where !content.isEmpty || count == 1 {
            let name = "SHA256SUMS\(ending)"
            let payload = try payload([
                "SHA256SUMS": "\(Self.abc)  a\n", "a": "abc", name: String(repeating: content, count: count),
            ])
            let notes = StageNotes()
            if count == 1 {
                try fixture.run("verify", on: payload, notes: notes)
                #expect(notes.text?.contains("'\(name)' appears to be a signature and was not checked") == true)
            } else {
                #expect(try fixture.failure("verify", on: payload).detail == "not listed: \(name)")
            }
            try Folder.remove(payload.root)
        }
    }

    @Test func aSidecarThatCannotBeRead() throws {
        try fixture.scratch.write("{}", to: "job/.marker/report.pdf.sha256.json")
        #expect(try fixture.failure("verify").summary.contains("'report.pdf.sha256.json' is present, but"))
    }

    @Test func listsFromOtherSystems() throws {
        let utf16: [UInt8] = [0xFF, 0xFE] + "\(Self.abc)  a\r\n".utf16.flatMap { [UInt8($0 & 255), UInt8($0 >> 8)] }
        let payload = try payload(["a": "abc"])
        for text in [[0xEF, 0xBB, 0xBF] + Array("\(Self.abc)  a\n".utf8), utf16] {
            try fixture.scratch.write(text, to: payload.root.appending("SHA256SUMS"))
            try fixture.run("verify", on: payload)
        }
    }

    @Test func nothingButABag() throws {
        let payload = try payload(["SHA256SUMS": "\(Self.abc)  a\n", "a": "abc"])
        #expect(try fixture.failure("verify", ["bag": "true"], on: payload).code == "verify.bag")
        #expect(try fixture.failure("verify", ["bag": "true"]).code == "verify.bag")
    }

    @Test func nothingIsSaid() throws {
        let payload = try payload(["a": "abc"])
        #expect(try fixture.failure("verify", on: payload).code == "verify.nothing")
        #expect(try fixture.failure("verify").code == "verify.nothing")
        try fixture.run("verify", ["require": "false"], on: payload)
        #expect(try fixture.run("verify", ["require": "false"]) == fixture.payload)
    }

    @Test func anExpectedDigest() throws {
        let payload = try fixture.run("verify", ["digest": "sha256:\(Self.abc)"])
        #expect(payload.digests["sha256"] == Self.abc)
        let failure = try fixture.failure("verify", ["digest": "md5:00000000000000000000000000000000"])
        #expect(failure.code == "verify.differs")
        #expect(throws: OptionProblem.self) { try fixture.stage("verify", ["digest": "sha256:abc"]) }
    }

    @Test func aSidecarDroppedAlong() throws {
        try fixture.scratch.write("\(Self.abc)  report.pdf\n", to: "job/.marker/report.pdf.sha256")
        try fixture.run("verify")
        try fixture.scratch.write("\(Self.abc)  other.pdf\n", to: "job/.marker/report.pdf.sha256")
        #expect(try fixture.failure("verify").code == "verify.unlisted")
        try fixture.scratch.write(String(repeating: "0", count: 64), to: "job/.marker/report.pdf.sha256")
        #expect(try fixture.failure("verify").code == "verify.differs")
    }
}

extension VerifyStage: ContractSubject {
    static var contract: StageContract {
        StageContract(options: ["require": "false"], prepare: { try $0.run("checksum", on: $1, in: 1) })
    }
}
