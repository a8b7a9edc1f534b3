import Digests
import PipelineKit
import Testing

@testable import PipelineEngine

private let md5 = String(repeating: "a1", count: 16)
private let sha256 = String(repeating: "0F", count: 32)

@Suite("ChecksumList") struct ChecksumListTests {
    private typealias Line = ChecksumList.Line

    private func lines(_ text: String, isBagIt: Bool = false) -> [Line] {
        ChecksumList(Array(text.utf8), isBagIt: isBagIt).lines
    }

    private func line(_ path: String?, _ expected: ChecksumList.Expected) -> Line {
        Line(path: path.map { Array($0.utf8) }, expected: expected)
    }

    @Test("Digests are told by their length, in any case, with a path or without")
    func digests() {
        #expect(lines("\(md5)  a b.bin\n") == [line("a b.bin", .digest(.md5, hex: md5))])
        #expect(lines("\(sha256) *dir/b\r\n") == [line("dir/b", .digest(.sha256, hex: sha256.lowercased()))])
        #expect(lines("\(sha256)\n") == [line(nil, .digest(.sha256, hex: sha256.lowercased()))])
        #expect(
            lines("SHA256 (a (1).bin) = \(sha256)") == [line("a (1).bin", .digest(.sha256, hex: sha256.lowercased()))])
        #expect(lines("\\\(md5)  a\\nb\\\\c") == [line("a\nb\\c", .digest(.md5, hex: md5))])
    }

    @Test(
        "Names as sha256sum writes them are read back as they were",
        arguments: ["plain", " two  spaces", "*star", "a\\b"])
    func roundTrip(_ name: String) {
        let written = ChecksumLine.bytes(digest: md5, path: Array(name.utf8))
        #expect(ChecksumList(written).lines == [line(name, .digest(.md5, hex: md5))])
    }

    @Test("Sizes are numbers that are no digests")
    func sizes() {
        #expect(lines("1048576\n") == [line(nil, .size(1_048_576))])
        #expect(lines("17  a.bin") == [line("a.bin", .size(17))])
        #expect(
            lines(String(repeating: "1", count: 32)) == [
                line(nil, .digest(.md5, hex: String(repeating: "1", count: 32)))
            ])
    }

    @Test("BagIt encodes three characters and has white space of any length")
    func bagIt() {
        #expect(
            lines("\(md5) \t data/a%0Ab%25c%20", isBagIt: true) == [line("data/a\nb%c%20", .digest(.md5, hex: md5))])
    }

    @Test(
        "The first strange line is named; comments and empty lines are none",
        arguments: [
            ("# made by us\n\n\(md5)  a\n", nil), ("ok\n", 1), ("\(md5)  a\nzz  b\n", 2), ("", nil),
            ("{\"done\": true}", 1),
        ] as [(String, Int?)])
    func strange(_ text: String, _ expected: Int?) {
        #expect(ChecksumList(Array(text.utf8)).strangeLine == expected)
    }
}
