import Digests
import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@Suite struct DigestTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// The examples "abc" of FIPS 180-4 and RFC 1321.
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
    ])
    func knownDigests(algorithm: DigestAlgorithm, expected: String) throws {
        let context = try DigestContext.start(algorithm)
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
        let context = try DigestContext.start(.sha256)
        try content.withUnsafeBytes { try context.update($0) }
        #expect(digests[0] == (try context.finish()))
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
