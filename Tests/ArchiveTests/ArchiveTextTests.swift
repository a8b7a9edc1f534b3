import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// Why an archive fails is said so that its sender can do something about it.
@Suite struct ArchiveTextTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    /// The problem of what a script makes of `file`, as `archive`.
    private func problem(_ script: String, size: Int = 30_000) throws -> ArchiveError.Problem? {
        let scratch = extraction.scratch
        var random = Random(seed: 7)
        try scratch.write((0..<size).map { _ in UInt8(random.next(below: 256)) }, to: scratch.path("file"))
        let made = try Tool("/bin/sh").run(["-ec", script], in: scratch.path)
        try #require(made.status == 0, "\(made.text)")
        return try Extraction().problem(try scratch.read("archive"))
    }

    @Test(.enabled(if: Tool.find("zstd") != nil, Comment(rawValue: Tool.skip("zstd"))))
    func windowsThatAreTooLarge() throws {
        let large = try problem("zstd -q --long=31 -c <file >archive")
        #expect(large?.code == .unsupported)
        #expect(large?.fact == "needs a larger decompression window than 128 MiB, the limit")
        #expect(large?.remedy.contains("--long") == true)
        #expect(try problem("zstd -q --long=27 -c <file >archive") == nil)
    }

    @Test(.enabled(if: Tool.find("zstd") != nil, Comment(rawValue: Tool.skip("zstd"))))
    func dictionaries() throws {
        let script = """
            for i in 1 2 3 4 5 6 7 8 9; do (cat file; echo $i) | tail -c 2000 >part$i; done
            zstd -q --train part* -o dictionary --maxdict=2000 2>&1
            zstd -q -D dictionary part1 -o archive
            """
        let missing = try problem(script)
        #expect(missing?.code == .unsupported)
        #expect(missing?.fact == "was packed with a dictionary, which is not available")
    }

    /// What was cut, and what has more behind its end.
    @Test(arguments: ["gzip -n", "bzip2", "xz", "zstd -q", "lz4 -q -m", "tar", "zip"])
    func cutOrTrailing(command: String) throws {
        let program = String(command.prefix { $0 != " " })
        guard Tool.find(program) != nil else { return }
        let make =
            switch program {
            case "tar": "tar -cf whole file"
            case "zip": "zip -q whole.zip file; mv whole.zip whole"
            default: "\(command) <file >whole"
            }
        #expect(try problem("\(make); cp whole archive") == nil)
        let cut = try problem("\(make); head -c 15000 whole >archive; test $(wc -c <whole) -gt 15000")
        #expect(cut?.code == .damaged)
        #expect(cut?.fact.hasPrefix("ends too early") == true, "\(cut?.fact ?? ""): \(cut?.detail ?? "")")
        #expect(cut?.remedy.hasPrefix("Send the archive again") == true)
        let more = try problem("\(make); cp whole archive; head -c 512 /dev/zero | tr '\\0' x >>archive")
        #expect(more?.code == .damaged)
        #expect(more?.fact.contains("512 bytes after its end") == true, "\(more?.fact ?? ""): \(more?.detail ?? "")")
        #expect(more?.remedy.contains("again") == false)
    }

    /// Nothing that sending it again would change is to be sent again.
    @Test func whatIsSentAgain() {
        let made: [ArchiveError] = [
            .trailing(1), .ambiguous(nil, "x"), .part(), .unsafe([], "x"), .conflict([], "x"), .unverifiable("x"),
            .empty,
            .unsupported(nil, "x"), .limit(nil, "x", remedy: "Raise it."), .encrypted(nil, isZip: false),
        ]
        for case .bad(let problem) in made {
            #expect(!problem.remedy.contains("again"), "\(problem.remedy)")
        }
        for case .bad(let problem) in [.damaged(nil), .early()] as [ArchiveError] {
            #expect(problem.remedy.hasPrefix("Send the archive again"))
        }
    }

    @Test(.enabled(if: Tool.find("7z") != nil, Comment(rawValue: Tool.skip("7z"))))
    func compressionsThatNobodyKnows() throws {
        #expect(try problem("7z a -bd -bb0 -mx=1 -mhc=off whole.7z file >log; mv whole.7z archive") == nil)
        let whole = try extraction.scratch.read("archive")
        // The method's number in the header, which is not compressed: LZMA2 is 21.
        let place = try #require(whole.indices.last { whole[$0...].starts(with: [0x21, 0x21, 1]) })
        var bytes = whole
        bytes[place + 1] = 0x7F
        let next = Array(bytes[(32 + header(bytes, 12))...].prefix(header(bytes, 20)))
        put(CRC32Sum.of(next), at: 28, &bytes)
        put(CRC32Sum.of(Array(bytes[12..<32])), at: 8, &bytes)
        let unknown = try Extraction().problem(bytes)
        #expect(unknown?.code == .unsupported, "\(unknown?.detail ?? "")")
        #expect(unknown?.remedy.hasPrefix("Use a common format") == true)
    }

    private func header(_ bytes: [UInt8], _ place: Int) -> Int {
        (0..<8).reduce(0) { $0 | Int(bytes[place + $1]) << (8 * $1) }
    }

    private func put(_ value: UInt32, at place: Int, _ bytes: inout [UInt8]) {
        for index in 0..<4 { bytes[place + index] = UInt8(truncatingIfNeeded: value >> (8 * UInt32(index))) }
    }
}
