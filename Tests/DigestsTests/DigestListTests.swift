import Digests
import PipelineKit
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
    ])
    func lines(name: String, text: String, expected: String) {
        let list = list(text, named: name)
        #expect(told(list) == [expected])
        #expect(list.strangeLine == nil)
    }

    @Test func digestsAreReadInAnyCase() {
        #expect(list(sha256).lines.first?.digest?.hex == sha256.lowercased())
    }

    @Test(arguments: ["plain", " two  spaces", "*star", "a\\b", "new\nline", "re\rturn"])
    func namesAreReadAsTheyWereWritten(name: String) {
        let written = String(decoding: ChecksumLine.bytes(digest: md5, path: Array(name.utf8)), as: UTF8.self)
        #expect(told(list(written)) == ["md5 \(name)"])
        let tagged = ChecksumLine.bytes(tag: "MD5", digest: md5, path: Array(name.utf8))
        #expect(told(list(String(decoding: tagged, as: UTF8.self))) == ["md5 \(name)"])
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
