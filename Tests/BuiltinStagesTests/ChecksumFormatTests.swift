import Digests
import Files
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import BuiltinStages

@Suite struct ChecksumFormatTests {
    /// Of no bytes at all.
    private static let digest = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private func list(_ format: ChecksumFormat, _ paths: [[UInt8]]) throws -> [UInt8] {
        let digest = try #require(Digest(.sha256, hex: Self.digest.utf8))
        return format.list(paths.map { (file: TreeFile(FilePath(bytes: $0)), digests: [digest]) })
    }

    @Test(arguments: [
        ("a.txt", "a.txt"), ("a b", "a b"), ("dir/a", "dir/a"), ("-a", "-a"),
        ("a\nb", "a\\nb"), ("a\rb", "a\\rb"), ("a\\b", "a\\\\b"),
    ])
    func escapesLinesAsCoreutilsDo(_ path: String, _ escaped: String) throws {
        let mark = path == escaped ? "" : "\\"
        #expect(try list(.gnu, [Array(path.utf8)]) == Array("\(mark)\(Self.digest)  \(escaped)\n".utf8))
        #expect(try list(.bsd, [Array(path.utf8)]) == Array("\(mark)SHA256 (\(escaped)) = \(Self.digest)\n".utf8))
    }

    @Test(.enabled(if: Tool.find("sha256sum") != nil, "needs sha256sum"), arguments: [ChecksumFormat.gnu, .bsd])
    func sha256sumAcceptsEveryName(_ format: ChecksumFormat) throws {
        let scratch = try ScratchFolder()
        let names: [[UInt8]] = [
            [0x61], [0x61, 0x0A], [0x5C, 0x6E], [0x0D], [0xED, 0xFF], Array("-c *".utf8), Array("  ".utf8),
        ]
        for name in names { try scratch.write([], to: scratch.path(try #require(FileName(name)))) }
        try scratch.write(try list(format, names), to: scratch.path("SUMS"))
        let check = try #require(Tool.find("sha256sum")).run(["-c", "--strict", "SUMS"], in: scratch.path)
        #expect(check.status == 0, "\(check.text)")
    }

    @Test(arguments: ["plain", " two  spaces", "*star", "a\\b", "new\nline", "re\rturn"])
    func namesAreReadAsTheyWereWritten(name: String) throws {
        for format in [ChecksumFormat.gnu, .bsd] {
            let read = DigestList(try list(format, [Array(name.utf8)]), algorithm: nil)
            #expect(read.lines.map(\.path) == [Array(name.utf8)])
            #expect(read.lines.map { $0.digest?.hex } == [Self.digest])
        }
    }
}
