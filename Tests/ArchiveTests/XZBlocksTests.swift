import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// Files of xz whose blocks are decompressed side by side: the same comes out, and the same is refused.
@Suite(.enabled(if: Tool.find("xz") != nil, Comment(rawValue: Tool.skip("xz"))))
struct XZBlocksTests {
    private let scratch: ScratchFolder
    /// 1,000,000 bytes that do not become much smaller.
    private let content: [UInt8]

    init() throws {
        scratch = try ScratchFolder()
        var generator = SeededGenerator(seed: 11)
        content = (0..<1_000_000).map { _ in UInt8.random(in: 0..<100, using: &generator) }
    }

    private func xz(_ options: String, _ bytes: [UInt8]? = nil) throws -> [UInt8] {
        try scratch.write(bytes ?? content, to: scratch.path("content"))
        let made = try Tool("/bin/sh").run(["-ec", "xz \(options) <content >content.xz"], in: scratch.path)
        try #require(made.status == 0, "\(made.text)")
        return try scratch.read("content.xz")
    }

    private func withInput<Result>(_ bytes: [UInt8], _ body: (ArchiveInput) throws -> Result) throws -> Result {
        let file = try OpenFile.open(try scratch.write(bytes, to: scratch.path("input.xz")), O_RDONLY)
        let budget = Budget(Extraction.policy.limits, UnpackMonitor(), folder: file.descriptor)
        return try body(try ArchiveInput(file.descriptor, budget, counts: true))
    }

    private func all(of source: any BlockSource) throws -> [UInt8] {
        var bytes: [UInt8] = []
        while let block = try source.next() { bytes += block }
        return bytes
    }

    /// The code of what is wrong with it; nil where `content` came out, or what is given.
    private func problem(_ bytes: [UInt8], workers: Int, expected: [UInt8]? = nil) throws -> ArchiveError.Code? {
        let extraction = try Extraction()
        var policy = Extraction.policy
        policy.workers = workers
        if let problem = try extraction.problem(bytes, policy) { return problem.code }
        #expect(try extraction.scratch.read("out/lone") == expected ?? content)
        return nil
    }

    /// Each block by itself is what it is in the file.
    @Test(arguments: ["crc32", "crc64", "sha256"])
    func blocks(check: String) throws {
        try withInput(try xz("-0 --check=\(check) --block-size=300KiB")) { input in
            let blocks = try #require(try XZBlock.all(in: input))
            #expect(blocks.map(\.size) == [307_200, 307_200, 307_200, 78_400])
            let windows = try blocks.map { try $0.window(in: input) }
            #expect(windows == [262_144, 262_144, 262_144, 262_144])
            var place = 0
            for block in blocks {
                let decoder = try LibraryDecoder(XZBlockInput(block, of: input.another()) { false }, .xz)
                #expect(try all(of: decoder) == Array(content[place..<place + Int(block.size)]))
                place += Int(block.size)
            }
        }
    }

    @Test(arguments: [2, 3, 8])
    func theSameComesOut(threads: Int) throws {
        // As pixz and others make it: streams behind each other, padded.
        let one = try xz("-0 --block-size=50000")
        let padded = one + [0, 0, 0, 0] + (try xz("-1 -T2 --block-size=70000")) + [UInt8](repeating: 0, count: 512)
        try withInput(padded) { input in
            let source = try #require(try XZBlocks(input, threads: threads))
            #expect(try all(of: source) == content + content)
        }
        #expect(try problem(padded, workers: threads, expected: content + content) == nil)
    }

    /// A taker that goes before the end takes the threads along.
    @Test func nobodyWaitsForTheRest() throws {
        try withInput(try xz("-0 --block-size=20000")) { input in
            for count in [0, 1, 7] {
                let source = try #require(try XZBlocks(input, threads: 4))
                for _ in 0..<count { _ = try source.next() }
            }
        }
    }

    /// What is not for it is read from its beginning to its end.
    @Test(arguments: [
        ("-0", 1), ("-0 --check=none --block-size=100000", 1), ("--x86 --lzma2=preset=0 --block-size=100000", 1),
        ("--lzma2=preset=0,dict=128MiB --block-size=100000", 1), ("-0 --block-size=100000", 10),
    ])
    func others(options: String, blocks: Int) throws {
        let bytes = try xz(options)
        try withInput(bytes) { input in
            let (several, one) = (try XZBlocks(input, threads: 4), try XZBlocks(input, threads: 1))
            #expect((several != nil) == (blocks > 1) && one == nil)
        }
        #expect(try problem(bytes, workers: 4) == nil)
        let text = [UInt8](repeating: 0x61, count: 40)
        #expect(try problem(bytes + text, workers: 4) == problem(bytes + text, workers: 1))
    }

    /// Whatever is wrong is wrong for one thread and for several.
    @Test func damage() throws {
        let bytes = try xz("-0 --block-size=150000")
        for place in stride(from: 30, to: bytes.count, by: bytes.count / 40) {
            var damaged = bytes
            damaged[place] ^= 0x10
            #expect(try problem(damaged, workers: 4) == .damaged, "bit at \(place)")
        }
        for place in 1...60 {
            var damaged = bytes
            damaged[bytes.count - place] ^= 0x10
            #expect(try problem(damaged, workers: 4) == problem(damaged, workers: 1), "bit \(place) before the end")
        }
        for cut in [1, 12, 40, 100, bytes.count / 2] {
            #expect(try problem(bytes.dropLast(cut), workers: 4) == .damaged, "\(cut) bytes are missing")
        }
    }

    /// An index that says of two blocks what is true of each other, with a checksum that is right.
    @Test func anIndexThatLies() throws {
        let bytes = try xz("-0 --block-size=600000")
        try withInput(bytes) { input in
            let blocks = try #require(try XZBlock.all(in: input))
            let index = Array(bytes[Int(blocks[1].start + blocks[1].length)..<bytes.count - 12])
            let first = XZBlock(
                start: blocks[0].start, unpadded: blocks[0].unpadded, size: blocks[1].size, check: blocks[0].check)
            let second = XZBlock(
                start: blocks[1].start, unpadded: blocks[1].unpadded, size: blocks[0].size, check: blocks[1].check)
            // Their records without what is around them: a mark and a count, padding and a checksum.
            func record(_ block: XZBlock) -> [UInt8] {
                Array(block.frame.after.dropFirst(2).prefix(6))
            }
            #expect(Array(index[2..<14]) == record(blocks[0]) + record(blocks[1]))
            var lie = Array(index[..<2]) + record(first) + record(second) + index[14...].dropLast(4)
            let sum = lie.withUnsafeBytes { CRC32.of($0, after: 0) }
            lie += (0..<4).map { UInt8(truncatingIfNeeded: sum >> (8 * $0)) }
            let file = Array(bytes.dropLast(12 + index.count)) + lie + bytes.suffix(12)
            #expect(try problem(file, workers: 4) == .damaged)
            #expect(try problem(file, workers: 1) == .damaged)
        }
    }

    /// Blocks that are small in the file and large outside of it.
    @Test func bombs() throws {
        let zeros = try xz("-0 --block-size=8MiB", [UInt8](repeating: 0, count: 96 << 20))
        let extraction = try Extraction()
        var policy = Extraction.policy
        policy.workers = 4
        #expect(try extraction.problem(zeros, policy)?.code == .limit)
        #expect(try extraction.status("lone").st_size <= 66 << 20)
        policy.limits.ratio = 100_000
        #expect(try Extraction().problem(zeros, policy) == nil)
    }
}
