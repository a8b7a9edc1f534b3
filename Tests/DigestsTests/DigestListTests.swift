import Digests
import Testing

private let md5 = String(repeating: "a1", count: 16)
private let sha256 = String(repeating: "0F", count: 32)
private let sha512 = String(repeating: "7e", count: 64)

@Suite struct DigestListTests {
    private typealias Line = DigestList.Line

    private func list(
        _ text: String, named name: String = "list", form: DigestList.Form = .digestsAndSizes
    ) -> DigestList {
        let bytes = Array(name.utf8)
        return DigestList(
            Array(text.utf8), algorithm: DigestList.algorithm(ofListNamed: bytes),
            form: DigestList.isSFV(bytes) ? .sfv : form)
    }

    /// What each line says: `sha256:0f0f…` or a size, and the path.
    private func told(_ list: DigestList) -> [String] {
        list.lines.map { line in
            let path = line.path.map { String(decoding: $0, as: UTF8.self) } ?? "-"
            switch line.expected {
            case .digest(let digest): return "\(digest.algorithm.rawValue) \(path)"
            case .size(let size): return "\(size) \(path)"
            case .anything: return "- \(path)"
            }
        }
    }

    @Test(arguments: [
        ("list", "\(md5)  a b.bin\n", "md5 a b.bin"), ("list", "\(sha256) *dir/b\r\n", "sha256 dir/b"),
        ("list", "\(sha256)\n", "sha256 -"), ("list", "SHA256 (a (1).bin) = \(sha256)", "sha256 a (1).bin"),
        ("list", "\\\(md5)  a\\nb\\\\c", "md5 a\nb\\c"), ("list", "\(sha512)  a", "sha512 a"),
        // Digests of one length are told apart by the list's name.
        ("B2SUMS", "\(sha512)  a", "blake2b a"), ("a.sha3-512", "\(sha512)", "sha3-512 -"),
        ("SHA3-256SUMS", "\(sha256)  a", "sha3-256 a"), ("a.xxh3-128", md5, "xxh3-128 -"),
        ("files.sfv", "#1 of 2.bin 352441C2\n", "crc32 #1 of 2.bin"),
        ("CRC32SUMS", "352441c2  a\n", "crc32 a"), ("a.crc32", "CRC32 (a) = 352441c2\n", "crc32 a"),
        ("list", "1048576\n", "1048576 -"), ("list", "17  a.bin", "17 a.bin"),
        ("list", String(repeating: "1", count: 32), "md5 -"),
        // OpenSSL, and what came through standard input.
        ("CHECKSUMS", "SHA2-256(a (1).bin)= \(sha256)", "sha256 a (1).bin"),
        ("list", "SHA256(a)= \(sha256)", "sha256 a"),
        ("list", "BLAKE2B-512(a)= \(sha512)", "blake2b a"), ("list", "SHA3-512(a)= \(sha512)", "sha3-512 a"),
        ("a.sha256", "SHA2-256(stdin)= \(sha256)", "sha256 -"), ("a.md5", "(stdin)= \(md5)", "md5 -"),
        ("a.md5", "\(md5)  -", "md5 -"), ("list", "\(sha256) *stdin", "sha256 stdin"),
        // b2sum -l, xxhsum -H*, b3sum.
        ("B2SUMS", "\(sha256)  a", "blake2b-256 a"), ("list", "BLAKE2b-256 (a) = \(sha256)", "blake2b-256 a"),
        ("a.b2", "0f", "blake2b-8 -"), ("B3SUMS", "\(sha256)  a", "blake3 a"),
        ("list", "BLAKE3 (a) = \(sha256)", "blake3 a"), ("XXHSUMS", "0123456789abcdef  a", "xxh64 a"),
        ("xxhsum.txt", "01234567  a", "xxh32 a"), ("a.xxh", "\(md5)  a", "xxh3-128 a"),
        ("list", "XXH3_0123456789abcdef  a", "xxh3-64 a"), ("list", "XXH3 (a) = 0123456789abcdef", "xxh3-64 a"),
        ("a.xxh64", "0123456789ABCDEF", "xxh64 -"), ("list", "XXH128 (a) = \(md5)", "xxh3-128 a"),
        ("a.sha224", String(repeating: "0", count: 56), "sha224 -"),
        // `sha256sum --zero`: nothing is escaped.
        ("list", "\(md5)  a\\b\nc\0", "md5 a\\b\nc"), ("list", "MD5 (a) = \(md5)\0", "md5 a"),
        ("list", "\u{FEFF}\(md5)  a\r\n", "md5 a"),
    ])
    func lines(name: String, text: String, expected: String) {
        let list = list(text, named: name)
        #expect(told(list) == [expected])
        #expect(list.strangeLine == nil)
    }

    private static let signed = """
        -----BEGIN PGP SIGNED MESSAGE-----
        Hash: SHA512

        # made by somebody
        \(md5)  a
        - \(sha256)  -b

        -----BEGIN PGP SIGNATURE-----

        iHUEARYKAB0WIQ==
        =abcd
        -----END PGP SIGNATURE-----

        """

    @Test func aSignatureIsAFrame() {
        for text in [
            Self.signed, Self.signed.split(separator: "\n", omittingEmptySubsequences: false).joined(separator: "\r\n"),
        ] {
            let list = list(text)
            #expect(told(list) == ["md5 a", "sha256 -b"])
            #expect(list.strangeLine == nil)
        }
        let alone = list(
            String(
                Self.signed[
                    (Self.signed.firstRange(of: "-----BEGIN PGP SIGNATURE")?.lowerBound ?? Self.signed.endIndex)...]))
        #expect(alone.lines.isEmpty)
        #expect(alone.strangeLine == nil)
    }

    /// Its lines would be none, without a word.
    @Test func aFrameThatIsNotClosed() {
        for end in ["-----END PGP SIGNATURE", "-----BEGIN PGP SIGNATURE", "# made", "Hash"] {
            guard let place = Self.signed.firstRange(of: end) else { Issue.record("no \(end)"); continue }
            #expect(list(String(Self.signed[..<place.lowerBound])).strangeLine != nil, "\(end)")
        }
    }

    @Test(arguments: [
        ("SHA3_256SUMS", .list), ("sha256.sum", .list), ("SHA3SUMS", .foreign), ("a.txt.sha3", .foreign),
        ("sums.sha512224", .foreign),
        ("SHA256SUMS", DigestList.NameKind.list), ("a.iso.sha256", .list), ("a.sha256sum", .list), ("SHA256", .perhaps),
        ("b2", .none), ("b3sums", .list), ("xxh", .none), ("x.xxh", .list),
        ("a.md5.txt", .list), ("SHA1SUM", .list), ("b.sfv", .list), ("B3SUMS", .list), ("xxhsums.txt", .list),
        ("CHECKSUMS", .perhaps), ("checksums.txt", .perhaps), ("Fedora-41-CHECKSUM", .perhaps),
        ("tool_1.0_checksums.txt", .perhaps), ("SHASUMS256.txt", .perhaps), ("hashes.txt", .perhaps),
        ("SHA256SUMS.asc", .signature), ("SHA256SUMS.gpg", .signature), ("checksums.txt.sig", .signature),
        ("SHA256SUMS.json", .foreign), ("a.whirlpool", .foreign), ("manifest-tiger.txt", .foreign),
        ("sha256summary.txt", .none), ("md5", .perhaps), ("rehashes", .none), ("report.pdf", .none), ("a.sig", .none),
    ])
    func names(name: String, kind: DigestList.NameKind) {
        #expect(DigestList.kind(ofName: Array(name.utf8)) == kind)
    }

    @Test func digestsAreReadInAnyCase() {
        #expect(list(sha256).lines.first?.digest?.hex == sha256.lowercased())
    }

    @Test func whatABagHasFetched() {
        let text = "http://x/a 3 data/a b\r\nhttp://x/c\t-\tdata/c%0A\n\n"
        #expect(told(list(text, form: .bagItFetch)) == ["3 data/a b", "- data/c%0A"])
        for line in ["http://x/a data/a", "http://x/a -", "http://x/a -3 data/a", "x", " 3 data/a"] {
            #expect(list(line, form: .bagItFetch).strangeLine == 1)
        }
    }

    @Test func sizesAreStrangeWhereOnlyDigestsAreMeant() {
        #expect(list("17  a.bin", form: .digests).strangeLine == 1)
    }

    @Test func bagsEncodeThreeCharactersAndHaveAnyWhiteSpace() {
        let lines = list("\(md5) \t data/a%0Ab%25c%20\n\(md5) *b\n", named: "manifest-md5.txt", form: .bagIt).lines
        #expect(
            lines.compactMap(\.path).map { BagPath.decoded($0) } == [Array("data/a\nb%c%20".utf8), Array("b".utf8)])
        #expect(list("# no comment\n", named: "manifest-md5.txt", form: .bagIt).strangeLine == 1)
        #expect(BagPath.encoded(Array("a\nb\r50%".utf8)) == Array("a%0Ab%0D50%25".utf8))
    }

    @Test(
        arguments: [
            ("# made by us\n\n\(md5)  a\n", nil), ("; made by us\n\(md5)  a\n", nil), ("ok\n", 1),
            ("\(md5)  a\nzz  b\n", 2), ("", nil), ("{\"done\": true}", 1),
        ] as [(String, Int?)])
    func theFirstStrangeLineIsNamed(text: String, expected: Int?) {
        #expect(list(text).strangeLine == expected)
    }
}
