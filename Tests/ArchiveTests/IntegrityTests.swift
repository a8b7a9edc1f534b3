import Files
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

    /// A format: how `archive` is made of the folder `in`, and whether a flipped bit of the content is always noticed.
    struct Format: Sendable, CustomTestStringConvertible {
        let script: String
        let isVerified: Bool
        /// Whether it falls over most of what it need not notice.
        var notices = false
        /// Whether it has no folders: only the files of the topmost are in it.
        var isFlat = false
        var testDescription: String { script }

        /// Whether this machine has the programs that it takes.
        var isPossible: Bool {
            let words = script.split { " |;()".contains($0) }.map(String.init)
            return programs.filter(words.contains).allSatisfy { Tool.find($0) != nil }
        }
        private var programs: [String] { ["bsdtar", "zip", "7z", "gzip", "bzip2", "xz", "zstd", "lz4", "ar"] }

        /// Two streams (members, frames) one behind the other, as programs make them that work in parallel.
        static func twoStreams(_ program: String, isVerified: Bool = true) -> Format {
            Format(
                script: "tar -cf t in; (head -c 20000 t | \(program); tail -c +20001 t | \(program)) >archive",
                isVerified: isVerified)
        }
    }

    static let formats: [Format] = [
        Format(script: "tar --format=gnu -cf archive in", isVerified: false),
        Format(script: "tar --format=pax -cf archive in", isVerified: false),
        Format(script: "tar -czf archive in", isVerified: true),
        Format(script: "tar --format=pax -cjf archive in", isVerified: true),
        Format(script: "tar -cJf archive in", isVerified: true),
        .twoStreams("gzip -n"), .twoStreams("bzip2"), .twoStreams("xz"), .twoStreams("zstd -q --check"),
        .twoStreams("zstd -q --no-check", isVerified: false), .twoStreams("lz4 -q"),
        Format(script: "tar -cf t in; zstd -q --no-check <t >archive", isVerified: false),
        Format(script: "tar -cf t in; lz4 -q <t >archive", isVerified: true),
        Format(script: "tar -cf t in; lz4 -q --no-frame-crc <t >archive", isVerified: false),
        Format(script: "tar -cf t in; xz --check=none <t >archive", isVerified: false, notices: true),
        Format(script: "bsdtar --format=pax --lzma -cf archive in", isVerified: false, notices: true),
        Format(script: "bsdtar --format=pax --compress -cf archive in", isVerified: false, notices: true),
        Format(script: "bsdtar --format=newc -cf archive in", isVerified: false),
        Format(script: "bsdtar --format=odc -cf archive in", isVerified: false),
        Format(script: "cd in; ar rc ../archive *st", isVerified: false, isFlat: true),
        Format(script: "cd in; bsdtar --format=arbsd -cf ../archive *st", isVerified: false, isFlat: true),
        Format(script: "bsdtar --format=zip -cf archive in", isVerified: true),
        Format(script: "bsdtar --format=zip --options zip:compression=store -cf archive in", isVerified: true),
        Format(script: "zip -q -r archive.zip in", isVerified: true),
        Format(script: "zip -q -r -fd - in >archive", isVerified: true),
        Format(script: "zip -q -r -Z bzip2 archive.zip in", isVerified: true),
        Format(script: "bsdtar --format=7zip -cf archive in", isVerified: false, notices: true),
        Format(script: "7z a -bd -bb0 -ms=off archive.7z in >log", isVerified: false, notices: true),
        Format(script: "bsdtar --format=xar -cf archive in", isVerified: false, notices: true),
    ].filter { $0.isPossible }

    /// Several files, with names that tar puts into headers of their own, in `in`.
    private static let files: [(path: String, size: Int)] = [
        ("in/first", 16_000), ("in/midst", 5000), ("in/empty", 0),
        ("in/" + String(repeating: "long-", count: 20) + "st", 3000), ("in/d/last", 1500),
    ]

    /// Makes the archive, and gives it with the files that it must give back.
    private func make(_ format: Format) throws -> (archive: [UInt8], content: [String: [UInt8]]) {
        var content: [String: [UInt8]] = [:]
        for (number, (path, size)) in Self.files.enumerated() {
            // Neither all alike nor without pattern, so that every compression has something to do.
            let bytes = (0..<size).map { UInt8(truncatingIfNeeded: ($0 + number) &* $0 >> 5 ^ $0 >> 9) }
            try scratch.write(bytes, to: scratch.path("work/\(path)"))
            let isTopmost = path.split(separator: "/").count == 2
            if !format.isFlat {
                content[path] = bytes
            } else if isTopmost, path.hasSuffix("st") {
                content[String(path.dropFirst(3))] = bytes
            }
        }
        let output = try Tool("/bin/sh").run(["-ec", format.script], in: scratch.path("work"))
        try #require(output.status == 0, "\(output.text)")
        let folder = scratch.path("work")
        let name = try #require(try Folder.names(in: folder).first { $0.text.hasPrefix("archive") })
        return (try scratch.read("work/\(name.text)"), content)
    }

    /// Whether just these files came out. By the calls of the C library: paths take long in a debug build.
    private func isWhole(
        _ content: [String: [UInt8]], _ extraction: Extraction, _ report: Unpacking.Report
    ) throws -> Bool {
        let size = content.values.reduce(0) { $0 + $1.count }
        // Folders are entries too, where the archive has them.
        guard report.bytes == size, report.entries - Int64(content.count) <= 2 else { return false }
        for (path, bytes) in content {
            let file = open(extraction.folder.string + "/" + path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC)
            guard file >= 0 else { return false }
            defer { close(file) }
            var found = [UInt8](repeating: 0, count: bytes.count + 1)
            guard read(file, &found, found.count) == bytes.count, found.dropLast() == bytes[...] else { return false }
        }
        return true
    }

    @Test(arguments: formats)
    func whatIsPromised(format: Format) throws {
        let (archive, whole) = try make(format)
        let extraction = try Extraction()
        let report = try extraction.extract(archive)
        #expect(report.integrity == (format.isVerified ? .verified : .unverifiable))
        #expect(try isWhole(whole, extraction, report))
        #expect(try FileTree.list(extraction.folder).files.count == whole.count)
        var policy = Extraction.policy
        policy.requiresIntegrity = true
        let problem = try Extraction().problem(archive, policy)
        #expect(problem?.code == (format.isVerified ? nil : .unverifiable))
    }

    /// 200 flipped bits each: of what is verified, none gives other content; of the rest, none harms.
    @Test(arguments: formats)
    func flippedBits(format: Format) throws {
        let (archive, whole) = try make(format)
        var random = Random(seed: 42)
        var unnoticed = 0
        for _ in 0..<200 {
            var bytes = archive
            let place = random.next(below: bytes.count)
            let bit = random.next(below: 8)
            bytes[place] ^= 1 << UInt8(bit)
            let extraction = try Extraction()
            do {
                let report = try extraction.extract(bytes)
                if try !isWhole(whole, extraction, report) {
                    unnoticed += 1
                    #expect(report.integrity == .unverifiable, "bit \(bit) of byte \(place) of \(archive.count)")
                }
            } catch is ArchiveError {
            } catch is NoArchive {
            }
            #expect(try extraction.outside().isEmpty)
        }
        // The table must be able to fail: what is called unverifiable does let bits through.
        if !format.isVerified, !format.notices { #expect(unnoticed > 20) }
    }

    /// Cut at every 512 bytes: never whole.
    @Test(arguments: formats)
    func cut(format: Format) throws {
        let (archive, _) = try make(format)
        for length in stride(from: 512, to: archive.count, by: 512) {
            let problem = try Extraction().problem(Array(archive[..<length]))
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
        #expect(try Extraction().problem(both)?.fact.contains("after its end") == true)
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

    /// Padding of a stream may be of any length (The .xz File Format 1.2.0, 2.2).
    @Test(.enabled(if: Tool.find("xz") != nil, Comment(rawValue: Tool.skip("xz")))) func muchPadding() throws {
        let made = try Tool("/bin/sh").run(
            ["-ec", "echo text | xz >padded.xz; truncate -s +64M padded.xz"], in: scratch.path)
        try #require(made.status == 0, "\(made.text)")
        let file = try OpenFile.open(scratch.path("padded.xz"), O_RDONLY)
        let budget = Budget(Extraction.policy.limits, UnpackMonitor(), folder: file.descriptor)
        let input = try ArchiveInput(file.descriptor, budget, counts: false)
        let began = ContinuousClock.now
        #expect(try IntegrityCheck.expected(of: input, .compressed(.xz)).integrity == .verified)
        #expect(ContinuousClock.now - began < .seconds(15))
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
