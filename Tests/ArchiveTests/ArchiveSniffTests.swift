import Archive
import Files
import Glibc
import TestSupport
import Testing

/// Plain files are not taken for archives, however they begin.
@Suite struct ArchiveSniffTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func sniff(_ bytes: [UInt8]) throws -> ArchiveSniff {
        let path = try scratch.write(bytes, to: scratch.path("file"))
        let file = try OpenFile.open(path, O_RDONLY)
        return try ArchiveSniff.look(at: file.descriptor)
    }

    private static let plain: [[UInt8]] = [
        [], [0x50], Array("PK".utf8), Array("hello\n".utf8), [UInt8](repeating: 0, count: 10240),
        [UInt8](repeating: 0, count: 100_000), [UInt8](repeating: 0x20, count: 600),
        // Two bytes of a binary cpio, as text in Latin-1 or chance may begin.
        [0xC7, 0x71] + [UInt8](repeating: 0x41, count: 600), [0x71, 0xC7, 0, 0], [0x1F, 0x9D, 0xFF],
        [0x1F, 0x8B, 8, 0xFF, 0, 0, 0, 0, 0, 0], Array("BZh9 is how bzip2 begins".utf8),
        [0x5D, 0, 0] + [UInt8](repeating: 9, count: 20),
        Array("#mtree\n./a type=file\n".utf8), Array("070707,12\n".utf8) + [UInt8](repeating: 0x2C, count: 200),
    ]

    @Test(arguments: plain.indices)
    func plainFiles(index: Int) throws {
        #expect(try sniff(Self.plain[index]).format == nil)
    }

    @Test func discImages() throws {
        var bytes = [UInt8](repeating: 0, count: 40_000)
        bytes.replaceSubrange(32769..<32774, with: Array("CD001".utf8))
        #expect(try sniff(bytes).format == .container(.iso))
    }

    @Test func theFirstNameOfAZip() throws {
        var zip = ZipBuilder()
        zip.add("mimetype", content: "application/epub+zip")
        let sniff = try sniff(zip.finished)
        #expect(sniff.format == .container(.zip))
        #expect(sniff.firstName == Array("mimetype".utf8))
    }

    @Test func tarHeaders() throws {
        var tar = TarBuilder()
        tar.add("a", content: "x")
        var bytes = tar.finished
        #expect(try sniff(bytes).format == .container(.tar))
        bytes[0] ^= 1
        #expect(try sniff(bytes).format == .container(.tar), "a damaged tar is a tar")
    }

    @Test func framesToBeSkipped() throws {
        let frame: [UInt8] = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4]
        #expect(try sniff(frame + [0x28, 0xB5, 0x2F, 0xFD]).format == .compressed(.zstd))
        #expect(try sniff(frame + [0x04, 0x22, 0x4D, 0x18]).format == .compressed(.lz4))
    }
}
