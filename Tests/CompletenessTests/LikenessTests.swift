import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Completeness

/// Whole files that begin like one of a format that tells what is missing: they must not wait for what never comes.
@Suite("What only looks like a format", .timeLimit(.minutes(10))) struct LikenessTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func verdict(_ bytes: [UInt8]) throws -> Verdict {
        let file = try OpenFile.open(try scratch.write(bytes, to: scratch.path("file")), O_RDONLY)
        return Format.verdict(on: file.descriptor)
    }

    static let texts = [
        "", "\n", "a", "Plain text.\n", "[ERROR] 12:00 it broke\n", "[1] First footnote\n",
        "[2026-01-02] a line of a log\n",
        "[1, 2] is a list, [3 is none\n", "[main]\nkey = value\n", "[\"Well,\" he said\n", "{name} has {count} files\n",
        "{\"name\"} is a placeholder\n", "{ // a remark\n \"a\": 1 }", "{\\rtf1\\ansi A letter}",
        "{\"pdf\":\"%PDF-1.4\"}\n",
        "[\"<?xml\"]", "<?xml version=\"1.0\"?><a>%PDF-1.7</a>\n", "A PDF begins with %PDF-1.7 and a line break.\n",
        "\u{1B}%-12345X@PJL JOB\n@PJL ENTER LANGUAGE=PDF\n%PDF-1.4\n1 0 obj\n%%EOF\n\u{1B}%-12345X",
        "%!PS-Adobe-3.0\n%%EOF\n", "<!doctype html><p>A page<br>\n", "<?xml is how a document begins.\n",
        "<?php echo '<a>';\n", "<?xml-stylesheet href='a.css'?>\n", "The free lunch is over.\n",
        "Too wide for the page.\n",
        "id1,skip,name\n1,2,3\n", "This moov is none.\n", "\n\n\n\nftyp\n", "für mdat und andere\n", "a\tb\twide\tc\n",
        "PK00123;Screw;5\n", "PK is a beginning.\n", "RIFF is a word of music.\n", "RIFX, RF64 and BW64\n",
        "BZh1 is how bzip2 begins.\n", "BZh91AY", "II*\n", "II is two.\n", "MM, and more\n", "7z is a format.\n",
        "\u{FEFF}Text with a mark.\n", "Rar!\n", "id;name\r\n1;a\r\n", "ustar\n", "\u{89}PNG\n", "GIF89a",
    ]

    @Test("Text is no format that could lack anything", arguments: texts) func text(_ text: String) throws {
        #expect(try verdict(Array(text.utf8)).lack == nil)
        let long = text + String(repeating: "and so on, line by line\n", count: 1000)
        #expect(try verdict(Array(long.utf8)).lack == nil || text.hasPrefix("{\"pdf") || text.hasPrefix("[\"<?xml"))
    }

    @Test("A PDF may have a mark or white space before it") func pdf() throws {
        for before in ["", "\u{FEFF}", "\n", "\u{FEFF} \r\n"] {
            #expect(try verdict(Array((before + "%PDF-1.4\n").utf8)).lack == "a PDF without its %%EOF")
        }
    }

    @Test("Archives that were to be split are zips, and need their end record") func split() throws {
        #expect(try verdict(Array("PK00PK".utf8) + [3, 4, 20, 0]).lack == "a zip archive without its end record")
    }

    @Test("Where characters hold marks nothing is said of an XML", arguments: ["ISO-2022-JP", "utf-7", "hz-gb-2312"])
    func encodings(_ name: String) throws {
        for quote in ["\"", "'"] {
            let text = "<?xml version=\"1.0\" encoding=\(quote)\(name)\(quote)?><a>\u{1B}$B<a\u{1B}(B</a>"
            #expect(try verdict(Array(text.utf8)) == .unclear)
        }
        #expect(try verdict(Array("<?xml version=\"1.0\" encoding=\"UTF-8\"?><a>\(name)".utf8)).lack != nil)
    }

    // MARK: Sounds and films

    private static func riff(_ length: UInt32, _ form: String = "WAVE") -> [UInt8] {
        Array("RIFF".utf8) + little(length) + Array((form + "fmt ").utf8) + [UInt8](repeating: 0, count: 100)
    }

    @Test(
        "A sound from a pipe does not know how long it is",
        arguments: [0, 0x7FFF_F024, 0x7FFF_FF24, 0x7FFF_FFFF, 0xFFFF_FFFF, 0xFFFF_F024])
    func piped(_ length: UInt32) throws { #expect(try verdict(Self.riff(length)) == .unclear) }

    @Test("Other sounds do, and what is none of them is nobody's") func riff() throws {
        #expect(try verdict(Self.riff(200)).lack == "a RIFF file that is missing 92 bytes")
        #expect(try verdict(Self.riff(200, "abcd")) == .unknown)
    }

    private static func box(_ kind: String, _ content: [UInt8] = []) -> [UInt8] {
        big(UInt32(8 + content.count)) + Array(kind.utf8) + content
    }
    private static let start = box("ftyp", Array("isom".utf8) + [0, 0, 0, 0])
    private static let film = start + box("moov", box("mvhd")) + box("mdat", [1, 2, 3])

    @Test("What follows a whole film is none of it", arguments: 1...9) func behind(_ count: Int) throws {
        #expect(try verdict(Self.film + [UInt8](repeating: 0, count: count)) == .whole)
        #expect(try verdict(Self.film + [UInt8](repeating: 0xEE, count: count)) == .whole)
        #expect(try verdict(Self.start + [UInt8](repeating: 0, count: count)).lack != nil)
    }

    @Test("The beginning of a stream is whole without media, a film is not") func fragments() throws {
        #expect(try verdict(Self.start + Self.box("moov", Self.box("mvhd") + Self.box("mvex"))) == .whole)
        let alone = Self.start + Self.box("moov", Self.box("mvhd"))
        #expect(try verdict(alone).lack == "an MP4 or QuickTime file without its movie or media")
    }

    @Test("Films of old begin otherwise") func old() throws {
        let mdat = Self.box("mdat", [1, 2, 3])
        #expect(try verdict(Self.box("wide") + mdat).lack != nil)
        #expect(try verdict(Self.box("wide") + mdat + Self.box("moov")) == .whole)
        #expect(try verdict(Array(mdat.dropLast())).lack == "an MP4 or QuickTime file that is missing 1 bytes")
        #expect(try verdict(mdat + [UInt8](repeating: 0, count: 100)).lack != nil)
        #expect(try verdict(mdat + [UInt8](repeating: 0xEE, count: 100)) == .unknown)
    }

    /// Pictures whose content is here: 0 for the file, 1 for the box that lists them.
    private static func pictures(at place: UInt32, method: UInt8) -> [UInt8] {
        let item: [UInt8] = [0, 1, 0, method, 0, 0, 0, 1] + big(place) + big(10)
        let list = box("iloc", [1, 0, 0, 0, 0x44, 0, 0, 1] + item)
        return start + box("meta", [0, 0, 0, 0] + box("hdlr") + list + box("idat", [1, 2, 3]))
    }

    @Test("Pictures lie where their list says") func pictures() throws {
        let head = Self.pictures(at: 0, method: 0)
        let place = UInt32(head.count) + 8
        let listed = Self.pictures(at: place, method: 0)
        #expect(try verdict(listed).lack == "an MP4 or QuickTime file that is missing 18 bytes")
        #expect(try verdict(listed + Self.box("mdat", [UInt8](repeating: 7, count: 10))) == .whole)
        #expect(try verdict(Self.pictures(at: 0, method: 1)) == .whole)
        #expect(try verdict(Self.start + Self.box("meta", [0, 0, 0, 0])).lack != nil)
    }

    // MARK: TIFF

    private struct Entry {
        let tag: UInt16
        var type: UInt16 = 4
        var count: UInt32 = 1
        let value: UInt32
    }

    /// With one directory, which ends the file where nothing is to follow.
    private static func tiff(_ entries: [Entry], next: [UInt8] = [0, 0, 0, 0]) -> [UInt8] {
        var bytes: [UInt8] = Array("II*".utf8) + [0, 8, 0, 0, 0] + little(UInt16(entries.count))
        for entry in entries {
            bytes += little(entry.tag) + little(entry.type) + little(entry.count) + little(entry.value)
        }
        return bytes + next
    }

    @Test("Each kind of data in a TIFF has to be there") func tiffData() throws {
        let small = [Entry(tag: 513, value: 8), Entry(tag: 514, value: 4)]
        #expect(try verdict(Self.tiff(small)) == .whole)
        for (place, length) in [(273, 279), (324, 325)] as [(UInt16, UInt16)] {
            let large = [Entry(tag: place, value: 8), Entry(tag: length, value: 5_000_000)]
            #expect(try verdict(Self.tiff(large + small)).lack?.hasPrefix("a TIFF that is missing 49") == true)
            #expect(try verdict(Self.tiff(small + large)).lack?.hasPrefix("a TIFF that is missing 49") == true)
        }
    }

    @Test("A TIFF may have types that nobody knows, and end with its directory") func tiffTolerance() throws {
        let odd = [Entry(tag: 256, value: 1), Entry(tag: 60_000, type: 200, count: 16_000_000, value: 77)]
        #expect(try verdict(Self.tiff(odd)) == .whole)
        #expect(try verdict(Self.tiff(odd, next: [])) == .whole)
        #expect(try verdict(Self.tiff(odd, next: [0, 0])).lack == "a TIFF without its directory")
        #expect(
            try verdict(Self.tiff([], next: [UInt8](repeating: 0, count: 99))).lack == "a TIFF without its directory")
    }

    @Test("Of a TIFF with more directories than are looked at nothing is said") func tiffBomb() throws {
        // Each entry leads to 64 others.
        let entry = Self.little(UInt16(330)) + Self.little(UInt16(4)) + Self.little(UInt32(64)) + Self.little(UInt32(8))
        let entries = [[UInt8]](repeating: entry, count: 4096).flatMap(\.self)
        var bytes: [UInt8] = Array("II*".utf8) + [0, 8, 0, 0, 0]
        for _ in 0..<20 {
            bytes += Self.little(UInt16(4096)) + entries + Self.little(UInt32(bytes.count + 2 + entries.count + 4))
        }
        #expect(try verdict(bytes) == .unclear)
    }

    private static func big(_ number: UInt32) -> [UInt8] { little(number).reversed() }
    private static func little(_ number: some FixedWidthInteger) -> [UInt8] {
        withUnsafeBytes(of: number.littleEndian) { Array($0) }
    }

    // MARK: xz

    @Test("Zeros to the end of an xz are looked over at once") func sparse() throws {
        let path = try scratch.write([0xFD, 0x37, 0x7A, 0x58, 0x5A, 0, 0, 4], to: scratch.path("file"))
        let file = try OpenFile.open(path, O_RDWR)
        #expect(ftruncate(file.descriptor, 256 << 20) == 0)
        let began = ContinuousClock.now
        #expect(Format.verdict(on: file.descriptor).lack == "an xz file without its footer")
        #expect(ContinuousClock.now - began < .seconds(20))
        // More than is looked at.
        #expect(ftruncate(file.descriptor, 1 << 42) == 0)
        #expect(Format.verdict(on: file.descriptor).lack == "an xz file without its footer")
    }

    @Test("Many zeros behind an xz belong to it", .enabled(if: Tool.find("xz") != nil, "needs xz")) func padded() throws
    {
        let shell = try #require(Tool.find("sh"))
        let made = try shell.run(["-ec", "echo text | xz >file && truncate -s +64M file"], in: scratch.path)
        #expect(made.status == 0)
        let file = try OpenFile.open(scratch.path("file"), O_RDONLY)
        #expect(Format.verdict(on: file.descriptor) == .whole)
    }
}
