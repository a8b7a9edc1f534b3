import Glibc
import PipelineKit
import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// What each format can notice, as docs/archives.md has it.
@Suite struct IntegrityTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    /// A format: how it is made of `in`, and whether a flipped bit of the content is always noticed.
    struct Format: Sendable, CustomTestStringConvertible {
        let command: String
        let isVerified: Bool
        /// Whether it notices most of what it need not.
        var notices = false
        var testDescription: String { command }
    }

    static let formats: [Format] = [
        Format(command: "tar -cf ../archive in", isVerified: false),
        Format(command: "tar -czf ../archive in", isVerified: true),
        Format(command: "tar -cjf ../archive in", isVerified: true),
        Format(command: "tar -cJf ../archive in", isVerified: true),
        Format(command: "bsdtar --format=ustar --zstd -cf ../archive in", isVerified: false),
        Format(command: "tar -I zstd\u{A0}--check -cf ../archive in", isVerified: true),
        Format(command: "tar -I lz4 -cf ../archive in", isVerified: true),
        Format(command: "tar -I lz4\u{A0}--no-frame-crc -cf ../archive in", isVerified: false),
        Format(command: "tar -I xz\u{A0}--check=none -cf ../archive in", isVerified: false),
        Format(command: "bsdtar --format=ustar --lzma -cf ../archive in", isVerified: false),
        Format(command: "bsdtar --format=ustar --compress -cf ../archive in", isVerified: false),
        Format(command: "bsdtar --format=cpio -cf ../archive in", isVerified: false),
        Format(command: "bsdtar --format=zip -cf ../archive in", isVerified: true),
        Format(command: "bsdtar --format=zip --options zip:compression=store -cf ../archive in", isVerified: true),
        Format(command: "zip -q ../archive.zip in", isVerified: true),
        Format(command: "bsdtar --format=7zip -cf ../archive in", isVerified: false, notices: true),
        Format(command: "bsdtar --format=xar -cf ../archive in", isVerified: false, notices: true),
    ].filter { Tool.find(String($0.command.prefix { $0 != " " })) != nil }

    private func make(_ format: Format) throws -> [UInt8] {
        // Neither all alike nor without pattern, so that every compression has something to do.
        let content = (0..<60_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 5 ^ $0 >> 9) }
        try scratch.write(content, to: scratch.path("work/in"))
        let words = format.command.split(separator: " ").map {
            String($0.map { $0 == "\u{A0}" ? " " : $0 })
        }
        let output = try #require(Tool.find(words[0])).run(Array(words.dropFirst()), in: scratch.path("work"))
        try #require(output.status == 0, "\(output.text)")
        let name = try #require(try Folder.names(in: scratch.path).first { $0.text.hasPrefix("archive") })
        return try scratch.read(name.text)
    }

    @Test(arguments: formats)
    func whatIsPromised(format: Format) throws {
        let archive = try make(format)
        let report = try Extraction().extract(archive)
        #expect(report.integrity == (format.isVerified ? .verified : .unverifiable))
        var policy = Extraction.policy
        policy.requiresIntegrity = true
        let problem = try Extraction().problem(archive, policy)
        #expect(problem?.code == (format.isVerified ? nil : .unverifiable))
    }

    /// 200 flipped bits each: of what is verified, none gives other content; of the rest, none harms.
    @Test(arguments: formats)
    func flippedBits(format: Format) throws {
        let archive = try make(format)
        let original = try scratch.read("work/in")
        var random = Random(seed: 42)
        var unnoticed = 0
        for _ in 0..<200 {
            var bytes = archive
            let place = random.next(below: bytes.count)
            bytes[place] ^= 1 << UInt8(random.next(below: 8))
            let extraction = try Extraction()
            let path = try extraction.scratch.write(bytes, to: extraction.scratch.path("archive"))
            do {
                let report = try extraction.extract(path)
                let files = try FileTree.list(extraction.folder).files
                let same =
                    try files.count == 1 && ScratchFolder.read(extraction.folder.pushing(files[0].relative)) == original
                if !same {
                    unnoticed += 1
                    #expect(report.integrity == .unverifiable, "bit flipped in byte \(place) of \(archive.count)")
                }
            } catch is ArchiveError {
            } catch is NoArchive {
            }
            #expect(try extraction.outside().isEmpty)
        }
        // The table must be able to fail: what is called unverifiable does let bits through.
        // (Those of the LZMA family fall over most wrong bits by themselves.)
        if !format.isVerified, !format.notices,
            !["lzma", "xz", "compress "].contains(where: { format.command.contains($0) })
        {
            #expect(unnoticed > 20)
        }
    }

    /// Cut at every 512 bytes: never whole.
    @Test(arguments: formats)
    func cut(format: Format) throws {
        let archive = try make(format)
        for length in stride(from: 512, to: archive.count, by: 512) {
            let extraction = try Extraction()
            let problem = try extraction.problem(Array(archive[..<length]))
            // Of tar and cpio what fills up the last record may be missing.
            if problem == nil {
                let rest = archive[length...]
                #expect(rest.allSatisfy { $0 == 0 }, "cut at \(length) of \(archive.count)")
            }
        }
    }

    /// Two archives put together: what comes second would be lost without a word.
    @Test func dataAfterTheEnd() throws {
        var (first, second) = (TarBuilder(), TarBuilder())
        first.add("a", content: "x")
        second.add("b", content: "x")
        let both = first.finished + second.finished
        #expect(try Extraction().problem(both)?.fact.contains("after the mark of its end") == true)
        #expect(try Extraction().problem(first.finished + [UInt8](repeating: 0, count: 9000)) == nil)
        for program in ["gzip", "xz", "zstd"] {
            guard let tool = Tool.find(program) else { continue }
            let path = try scratch.write(both, to: scratch.path("both"))
            try #require(try tool.run(["-q", path.string]).status == 0)
            let name = try #require(try Folder.names(in: scratch.path).first { $0.text.hasPrefix("both.") })
            #expect(try Extraction().problem(try scratch.read(name.text))?.code == .damaged, "\(program)")
            unlink(scratch.path(name).string)
            unlink(path.string)
        }
    }

    @Test func sizesThatAreNotSo() throws {
        var tar = TarBuilder()
        tar.add(Array("a".utf8), content: Array("short".utf8), claimed: 5000)
        tar.add("b", content: "x")
        #expect(try Extraction().problem(tar.finished)?.code == .damaged)
    }
}

/// The same numbers in every run (xorshift64*).
struct Random {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    mutating func next(below limit: Int) -> Int {
        state ^= state >> 12
        state ^= state << 25
        state ^= state >> 27
        return Int((state &* 0x2545_F491_4F6C_DD1D >> 33) % UInt64(limit))
    }
}
