import Digests
import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

@Suite struct DigestTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The examples "abc" of FIPS 180-4, FIPS 202, RFC 1321, RFC 7693; the others as their own tools print them.
    @Test(arguments: [
        (DigestAlgorithm.md5, "900150983cd24fb0d6963f7d28e17f72"),
        (.sha1, "a9993e364706816aba3e25717850c26c9cd0d89d"),
        (.sha256, "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"),
        (
            .sha384,
            "cb00753f45a35e8bb5a03d699ac65007272c32ab0eded1631a8b605a43ff5bed8086072ba1e7cc2358baeca134c825a7"
        ),
        (
            .sha512,
            "ddaf35a193617abacc417349ae20413112e6fa4e89a97ea20a9eeee64b55d39a"
                + "2192992a274fc1a836ba3c23a3feebbd454d4423643ce80e2a9ac94fa54ca49f"
        ),
        (
            .blake2b,
            "ba80a53f981c4d0d6a2797b69f12f6e94c212f14685ac4b74b12bb6fdbffa2d1"
                + "7d87c5392aab792dc252d5de4533cc9518d38aa8dbf1925ab92386edd4009923"
        ),
        (.sha3with256, "3a985da74fe225b2045c172d6bd390bd855f086e3e9d525b46bfe24511431532"),
        (
            .sha3with512,
            "b751850b1a57168a5693cd924b6b096e08f621827444f70d884f5d0240d2712e"
                + "10e116e9192af3c91a7ec57647e3934057340b4cf408d5a56592f8274eec53f0"
        ),
        (.xxh3, "06b05ab6733a618578af5f94892f3950"),
        (.sha224, "23097d223405d8228642a477bda255b32aadbce4bda0b3f7e36c9da7"),
        (.sha3with224, "e642824c3f8cf24ad09234ee7d3c766fc9a3a5168d0c94ad73b46fdf"),
        (
            .sha3with384,
            "ec01498288516fc926459f58e2c6ad8df9b473cb0fc08c2596da7cf0e49be4b298d88cea927ac7f539f1edf228376d25"
        ),
        (.blake2b(size: 32), "bddd813c634239723171ef3fee98579b94964e3bb1cb3e427262c8c068d52319"),
        (.blake3, "6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"),
        (.xxh3with64, "78af5f94892f3950"), (.xxh64, "44bc2cf5ad770999"), (.xxh32, "32d153ff"),
        (.crc32c, "364b3fb7"),
        (.crc32, "352441c2"),
    ])
    func knownDigests(algorithm: DigestAlgorithm, expected: String) throws {
        var context = try DigestContext.start(algorithm)
        for _ in 0..<2 {
            try context.restart()
            try Array("ab".utf8).withUnsafeBytes { try context.update($0) }
            try Array("c".utf8).withUnsafeBytes { try context.update($0) }
            #expect(try context.finish().hex == expected)
        }
    }

    @Test(arguments: [0, 1, 4096, 8192, 8193, 262_144, 262_145, 1_000_000])
    func filesOfAnySizeInOnePass(size: Int) throws {
        let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
        let path = try scratch.write(content, to: scratch.path("file"))
        let file = try OpenFile.open(path, O_RDONLY)
        var hasher = try FileHasher.make([.sha256, .md5])
        var seen = 0
        let digests = try hasher.hash(descriptor: file.descriptor) { (count) throws(DigestError) in seen += count }
        #expect(seen == size)
        #expect(digests.map(\.algorithm) == [.sha256, .md5])
        var context = try DigestContext.start(.sha256)
        try content.withUnsafeBytes { try context.update($0) }
        #expect(digests[0] == (try context.finish()))
    }

    /// Around the ends of blocks, chunks and shares of what is hashed here, in pieces of odd sizes.
    @Test(arguments: [
        ("b3sum", [] as [String], DigestAlgorithm.blake3), ("b2sum", ["-l", "8"], .blake2b(size: 1)),
        ("b2sum", ["-l", "160"], .blake2b(size: 20)), ("b2sum", ["-l", "504"], .blake2b(size: 63)),
        ("xxhsum", ["-qH0"], .xxh32), ("xxhsum", ["-qH1"], .xxh64), ("xxhsum", ["-qH2"], .xxh3),
    ])
    func asTheirOwnToolsMakeThem(name: String, options: [String], algorithm: DigestAlgorithm) throws {
        guard let tool = Tool.find(name) else { return }
        let sizes =
            [0, 1, 63, 64, 65, 127, 128, 129, 256, 257, 511, 1023, 1024, 1025, 2048, 3000, 3072, 4095, 4096, 4097]
            + [5120, 7000, 8192, 8193, 12_288, 16_384, 16_385, 40_000, 65_536, 100_001, 1 << 20]
        for size in sizes {
            let content = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 >> 8) }
            let path = try scratch.write(content, to: scratch.path("file"))
            let told = try tool.run(options + [path.string]).text.prefix { $0 != " " }
            var context = try DigestContext.start(algorithm)
            try content.withUnsafeBytes { bytes in
                var rest = bytes[...]
                var length = 1
                while !rest.isEmpty {
                    try context.update(UnsafeRawBufferPointer(rebasing: rest.prefix(length)))
                    rest = rest.dropFirst(length)
                    length = length * 3 + 1
                }
            }
            #expect(try context.finish().hex == told, "\(size) bytes")
        }
    }

    @Test func everyNameLeadsBack() {
        let short = (1...63).map { DigestAlgorithm.blake2b(size: $0) }
        #expect(DigestAlgorithm.count == Set(DigestAlgorithm.allCases + short).count)
        for algorithm in DigestAlgorithm.allCases + short {
            #expect(DigestAlgorithm(rawValue: algorithm.rawValue) == algorithm)
            #expect(DigestAlgorithm(spelled: algorithm.tag) == algorithm)
        }
        for name in ["blake2b-7", "blake2b-520", "blake2b-0", "sha4", ""] {
            #expect(DigestAlgorithm(rawValue: name) == nil)
        }
    }

    @Test(arguments: DigestAlgorithm.allCases + [.blake2b(size: 20)])
    func aDigestFromItsText(algorithm: DigestAlgorithm) throws {
        let digest = try DigestContext.start(algorithm).finish()
        #expect(digest.bytes.count == algorithm.size)
        #expect(Digest(algorithm, hex: digest.hex.uppercased().utf8) == digest)
        #expect(Digest(algorithm, hex: digest.hex.dropLast().utf8) == nil)
        #expect(Digest(algorithm, hex: (digest.hex.dropLast() + "g").utf8) == nil)
    }

    @Test func aHasherGoesFromFileToFile() throws {
        var hasher = try FileHasher.make([.sha1])
        var results: [String] = []
        for (name, size) in [("a", 10), ("b", 600_000), ("c", 10)] {
            let path = try scratch.write([UInt8](repeating: 7, count: size), to: scratch.path(name))
            let file = try OpenFile.open(path, O_RDONLY)
            results += try hasher.hash(descriptor: file.descriptor).map(\.hex)
        }
        #expect(results[0] == results[2])
        #expect(results[0] != results[1])
    }

    @Test func theCallerCanStop() throws {
        let path = try scratch.write([UInt8](repeating: 7, count: 600_000), to: scratch.path("a"))
        let file = try OpenFile.open(path, O_RDONLY)
        #expect(throws: DigestError.stopped) {
            var hasher = try FileHasher.make([.sha256])
            _ = try hasher.hash(descriptor: file.descriptor) { (_) throws(DigestError) in throw .stopped }
        }
    }

    @Test func aFolderCannotBeRead() throws {
        let folder = try OpenFile.openFolder(scratch.path)
        #expect(throws: DigestError.unreadable(.isDirectory)) {
            var hasher = try FileHasher.make([.sha256])
            _ = try hasher.hash(descriptor: folder.descriptor)
        }
    }
}
