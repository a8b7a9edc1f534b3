import Archive
import Files
import Glibc
import SystemPackage
import TestSupport
import Testing

/// Archives that are not whole or not as they were written: each fails.
@Suite struct DamagedArchiveTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    private var tar: TarBuilder {
        var tar = TarBuilder()
        tar.add("a", content: String(repeating: "a", count: 700))
        tar.add("folder/", .folder, mode: 0o755)
        tar.add("folder/b", content: String(repeating: "b", count: 512))
        tar.add("empty")
        tar.add("link", .symbolicLink, target: "a")
        return tar
    }

    @Test func theWholeTarIsGood() throws {
        try extraction.extract(tar.finished)
        #expect(try extraction.tree() == ["a", "empty", "folder/", "folder/b", "link -> a"])
    }

    @Test func tarCutAtEveryBlock() throws {
        let whole = tar.finished
        for length in stride(from: 512, to: whole.count, by: 512) {
            let extraction = try Extraction()
            #expect(try extraction.problem(Array(whole[..<length]))?.code == .damaged, "cut at \(length)")
        }
    }

    @Test func tarWithDamagedHeader() throws {
        var bytes = tar.finished
        bytes[1536 + 10] ^= 1
        #expect(try extraction.problem(bytes)?.code == .damaged)
    }

    @Test(arguments: ["gzip", "bzip2", "xz", "zstd", "lz4"])
    func compressedFileCutAnywhere(program: String) throws {
        guard let tool = Tool.find(program) else { return }
        let content = (0..<20_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        for (name, bytes) in [("lone", content), ("tar", tar.finished), ("empty", [])] {
            let path = try extraction.scratch.write(bytes, to: extraction.scratch.path(name))
            try #require(
                try tool.run(program == "lz4" ? ["-q", "-m", path.string] : ["-q", "-k", path.string]).status == 0)
            let ending = ["gzip": "gz", "bzip2": "bz2", "xz": "xz", "zstd": "zst", "lz4": "lz4"][program] ?? ""
            let whole = try extraction.scratch.read("\(name).\(ending)")
            // A tar without entries is none, but a file without content is a file.
            let problem = try Extraction().problem(whole)
            #expect(problem == nil, "\(name).\(ending)")
            let step = max(1, whole.count / 12)
            // Below 16 bytes there may be too little to know the format by.
            for length in Array(stride(from: 16, to: whole.count, by: step)) + [max(16, whole.count - 1)]
            where length < whole.count {
                #expect(try Extraction().problem(Array(whole[..<length])) != nil, "\(name).\(ending) cut at \(length)")
            }
        }
    }

    @Test func flippedBitsOfAGzipAreNoticed() throws {
        let gzip = try #require(Tool.find("gzip"))
        let path = try extraction.scratch.write(tar.finished, to: extraction.scratch.path("tar"))
        try #require(try gzip.run(["-n", path.string]).status == 0)
        let whole = try extraction.scratch.read("tar.gz")
        // From behind the header, whose bytes mean nothing for the content. A few bits within mean nothing either: gzip
        // knows.
        var noticed = 0
        for index in 10..<whole.count {
            var bytes = whole
            bytes[index] ^= 1 << UInt8(index % 8)
            if try Extraction().problem(bytes) != nil {
                noticed += 1
                continue
            }
            let path = try extraction.scratch.write(bytes, to: extraction.scratch.path("flipped.gz"))
            #expect(try gzip.run(["-t", path.string]).status == 0, "byte \(index)")
        }
        #expect(noticed > whole.count * 9 / 10 - 10)
    }

    @Test func gzipMembersFollowOneAnother() throws {
        let gzip = try #require(Tool.find("gzip"))
        for name in ["one", "two"] {
            let path = try extraction.scratch.write(Array(name.utf8), to: extraction.scratch.path(name))
            try #require(try gzip.run([path.string]).status == 0)
        }
        let both = try extraction.scratch.read("one.gz") + extraction.scratch.read("two.gz")
        try extraction.extract(both + [UInt8](repeating: 0, count: 700))
        #expect(try extraction.scratch.text("out/lone") == "onetwo")
        #expect(try Extraction().problem(both + [1, 2, 3])?.code == .damaged)
    }

    @Test func zipCutAnywhere() throws {
        var zip = ZipBuilder()
        zip.add("a", content: String(repeating: "a", count: 300))
        zip.add("b", content: "b")
        let whole = zip.finished
        #expect(try Extraction().problem(whole) == nil)
        for length in 8..<whole.count {
            let extraction = try Extraction()
            #expect(try extraction.problem(Array(whole[..<length]))?.code == .damaged, "cut at \(length)")
        }
    }

    @Test func zipWithWrongChecksum() throws {
        var zip = ZipBuilder()
        var oddity = ZipBuilder.Oddity()
        oddity.checksum = 1
        zip.add("a", content: "content", oddity)
        let problem = try extraction.problem(zip.finished)
        #expect(problem?.code == .damaged)
        #expect(problem?.entry == Array("a".utf8))
    }

    @Test(arguments: ["PK\u{3}\u{4}", "7z\u{bc}", "BZh9", "!<arch>\n", "xar!", "070701", "MSCF\u{0}\u{0}\u{0}\u{0}"])
    func garbageAfterAMagic(magic: String) throws {
        let bytes =
            magic.unicodeScalars.map { UInt8(truncatingIfNeeded: $0.value) }
            + (0..<4000).map { UInt8(truncatingIfNeeded: $0 &* 7 ^ $0 >> 4) }
        let path = try extraction.scratch.write(bytes, to: extraction.scratch.path("archive"))
        let file = try OpenFile.open(path, O_RDONLY)
        guard try ArchiveSniff.look(at: file.descriptor).format != nil else { return }
        #expect(try extraction.problem(bytes) != nil)
        #expect(try extraction.tree().isEmpty)
    }

    @Test func emptyArchives() throws {
        #expect(try Extraction().problem(ZipBuilder().finished)?.code == .empty)
        guard let gzip = Tool.find("gzip") else { return }
        let path = try extraction.scratch.write(TarBuilder().finished, to: extraction.scratch.path("empty"))
        try #require(try gzip.run([path.string]).status == 0)
        var named = try Extraction()
        named.name = "empty.tar.gz"
        #expect(try named.problem(try extraction.scratch.read("empty.gz"))?.code == .empty)
    }

    @Test func stopsWhenAsked() throws {
        var tar = TarBuilder()
        tar.add(Array("a".utf8), content: [UInt8](repeating: 1, count: 3_000_000))
        let path = try extraction.scratch.write(tar.finished, to: extraction.scratch.path("archive"))
        #expect(throws: ArchiveError.stopped) { try extraction.extract(path, stopAfter: 500_000) }
    }
}
