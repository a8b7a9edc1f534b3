import Archive
import Glibc
import Synchronization
import SystemPackage
import TestSupport
import Testing

/// Reading that gives nothing can be called off too: else a few bytes could hold up a shutdown for hours.
@Suite struct StoppingTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    private static let zeros = [UInt8](repeating: 0, count: 16 << 20)

    private static var tar: [UInt8] {
        var tar = TarBuilder()
        tar.add("a", content: "x")
        return tar.finished
    }

    /// Compresses bytes by another program, which adds an ending to the name.
    private func compressed(_ bytes: [UInt8], by program: String, _ ending: String) throws -> [UInt8]? {
        guard let tool = Tool.find(program) else { return nil }
        let path = try extraction.scratch.write(bytes, to: extraction.scratch.path("content"))
        try #require(try tool.run(["-q", "-k", "-1", path.string]).status == 0)
        return try extraction.scratch.read("content.\(ending)")
    }

    /// Extracts an archive, with somebody who wants no more when asked for the 30th time.
    private func expectStopped(_ bytes: [UInt8], at location: SourceLocation = #_sourceLocation) throws {
        let asked = Mutex(0)
        let archive = try extraction.scratch.write(bytes, to: extraction.scratch.path("archive"))
        #expect(throws: ArchiveError.stopped, sourceLocation: location) {
            try extraction.extract(
                archive,
                isStopped: { @Sendable in
                    asked.withLock { asked in
                        asked += 1
                        return asked >= 30
                    }
                })
        }
        // Whoever is told once need not be told again and again.
        #expect(asked.withLock { $0 } < 40, sourceLocation: location)
    }

    @Test(arguments: [("gzip", "gz"), ("xz", "xz"), ("zstd", "zst"), ("bzip2", "bz2")])
    func contentAfterTheArchivesEnd(program: String, ending: String) throws {
        guard let bytes = try compressed(Self.tar + Self.zeros, by: program, ending) else { return }
        try expectStopped(bytes)
    }

    @Test(arguments: [("gzip", "gz"), ("xz", "xz")])
    func paddingAfterTheStreamsEnd(program: String, ending: String) throws {
        guard let bytes = try compressed(Self.tar, by: program, ending) else { return }
        try expectStopped(bytes + Self.zeros)
    }

    /// libarchive passes over it by itself, without giving any of it.
    @Test func contentOfAFolder() throws {
        var cpio: [UInt8] = []
        func add(_ name: String, mode: Int, _ content: [UInt8]) {
            func field(_ value: Int) -> String {
                let digits = String(value, radix: 16)
                return String(repeating: "0", count: 8 - digits.count) + digits
            }
            let fields = [1, mode, 0, 0, 1, 0, content.count, 0, 0, 0, 0, name.utf8.count + 1, 0]
            cpio += Array(("070701" + fields.map(field).joined() + name).utf8) + [0]
            cpio += [UInt8](repeating: 0, count: (4 - cpio.count % 4) % 4)
            cpio += content
        }
        add("folder", mode: 0o040755, Self.zeros)
        add("TRAILER!!!", mode: 0, [])
        guard let bytes = try compressed(cpio, by: "gzip", "gz") else { return }
        try expectStopped(bytes)
    }
}
