import BuiltinStages
import Files
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// The stage `verify` on lists that other programs write.
@Suite struct ToolListTests {
    /// A list's name, and what writes it.
    struct Listing: Sendable, CustomTestStringConvertible {
        let name: String
        let command: String
        var testDescription: String { "\(command) > \(name)" }

        var tool: String { String(command.prefix { $0 != " " }) }
    }

    private static let plain = ["a", "b c", "d (1).bin", "sub/e"]
    private static let files = "a 'b c' 'd (1).bin' sub/e"

    private static let listings = [
        ("SHA256SUMS", "sha256sum FILES"), ("SHA256SUMS", "sha256sum --tag FILES"), ("a.sha224", "sha224sum FILES"),
        ("SHA256SUMS", "sha256sum --zero FILES"), ("CHECKSUMS", "sha512sum --zero --tag FILES"),
        ("MD5SUMS", "md5sum -b FILES"), ("MD5SUMS", "md5sum FILES | sed 's/$/\\r/'"),
        ("checksums.txt", "printf '\\357\\273\\277'; sha1sum FILES"), ("SHA384", "sha384sum FILES"),
        ("B2SUMS", "b2sum FILES"), ("B2SUMS", "b2sum -l 256 FILES"), ("list.b2sum", "b2sum -l 8 FILES"),
        ("CHECKSUMS", "b2sum --tag -l 160 FILES"), ("CHECKSUMS", "openssl dgst FILES"),
        ("all.sha256", "openssl dgst -sha256 -r FILES"), ("CHECKSUMS", "openssl dgst -sha3-384 FILES"),
        ("x-checksums.txt", "openssl dgst -blake2b512 FILES"), ("CHECKSUM", "openssl sha224 FILES"),
        ("SHA3-224SUMS", "openssl dgst -r -sha3-224 FILES"), ("B3SUMS", "b3sum FILES"), ("all.blake3", "b3sum FILES"),
        ("xxhsum.txt", "xxhsum FILES"), ("XXH32SUMS", "xxhsum -H0 FILES"), ("XXHSUMS", "xxhsum -H0 FILES"),
        ("list.xxh", "xxhsum -H2 FILES"), ("CHECKSUMS", "xxhsum -H3 FILES"), ("CHECKSUMS", "xxhsum --tag FILES"),
    ].map { Listing(name: $0, command: $1) }.filter { Tool.find($0.tool) != nil || $0.tool == "printf" }

    private let fixture: StageFixture

    init() throws { fixture = try StageFixture(drop: "folder", [1]) }

    private func payload(_ names: [String], _ listing: Listing, _ files: String) throws -> Payload {
        let payload = try fixture.folderPayload(names.map { (Array($0.utf8), "content of \($0)") })
        let command = listing.command.split(separator: "FILES", omittingEmptySubsequences: false).joined(
            separator: files)
        let shell = try #require(Tool.find("sh"))
        let output = try shell.run(["-c", "{ \(command); } > ../list && mv ../list \(listing.name)"], in: payload.root)
        try #require(output.status == 0, "\(output.text)")
        return payload
    }

    private func expectRead(_ payload: Payload) throws {
        try fixture.run("verify", on: payload)
        try fixture.scratch.write("else", to: "job/.payload/a")
        #expect(try fixture.failure("verify", on: payload).detail == "differs: a")
    }

    @Test(arguments: listings)
    func whatToolsWriteIsRead(listing: Listing) throws {
        try expectRead(try payload(Self.plain, listing, Self.files))
    }

    @Test(arguments: ["sha256sum FILES", "sha256sum --tag FILES", "sha256sum --zero FILES", "b2sum -l 128 -z FILES"])
    func oddNames(command: String) throws {
        let list = command.hasPrefix("b2") ? "B2SUMS" : "SHA256SUMS"
        try expectRead(
            try payload(
                ["a", "x\ny", "back\\slash", " b ", "*c", "-d"], Listing(name: list, command: command), "-- *"))
    }

    @Test func whatCameThroughAPipe() throws {
        for (list, command) in [
            ("a.sha256", "sha256sum < a"), ("a.sha256", "openssl dgst -sha256 < a"), ("a.xxh3", "xxhsum -H3 < a"),
        ] where Tool.find(String(command.prefix { $0 != " " })) != nil {
            let payload = try payload(["a"], Listing(name: list, command: command), "")
            try expectRead(payload)
            try Folder.remove(payload.root)
        }
        let payload = try payload(["a"], Listing(name: "SHA256SUMS", command: "sha256sum < a"), "")
        #expect(try fixture.failure("verify", on: payload).summary.contains("without a file name"))
    }

    @Test(.enabled(if: Tool.find("gpg") != nil, "needs gpg; packaging/install-build-deps.sh --test installs it"))
    func signedLists() throws {
        let home = try ScratchFolder()
        let shell = try #require(Tool.find("sh"))
        chmod(home.path.string, 0o700)
        let gpg = "gpg --homedir \(home.path.string) --batch --quiet --passphrase '' --pinentry-mode loopback"
        let made = try shell.run(["-c", "\(gpg) --quick-generate-key test ed25519 sign never"])
        try #require(made.status == 0, "\(made.text)")
        // Its agent goes with its folder.
        for (list, option) in [("SHA256SUMS.asc", "--clearsign"), ("CHECKSUMS", "--clearsign --textmode")] {
            let listing = Listing(name: list, command: "sha256sum FILES | \(gpg) \(option)")
            let payload = try payload(Self.plain, listing, Self.files)
            let notes = StageNotes()
            try fixture.run("verify", on: payload, notes: notes)
            #expect(notes.text == "the PGP signature with '\(list)' was not checked")
            try expectRead(payload)
            try Folder.remove(payload.root)
        }
        let beside = Listing(
            name: "SHA256SUMS",
            command: "sha256sum FILES | tee ../l; \(gpg) --detach-sign -a < ../l > SHA256SUMS.asc; "
                + "\(gpg) --detach-sign < ../l > SHA256SUMS.gpg")
        try expectRead(try payload(Self.plain, beside, Self.files))
    }
}
