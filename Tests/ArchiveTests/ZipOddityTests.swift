import PipelineKit
import TestSupport
import Testing

@testable import Archive

/// Zips that programs write and others take for something else: what is meant is taken, what can be read in two ways is
/// not.
@Suite struct ZipOddityTests {
    private func odd(_ change: (inout ZipBuilder.Oddity) -> Void) -> ZipBuilder.Oddity {
        var oddity = ZipBuilder.Oddity()
        change(&oddity)
        return oddity
    }

    private func zip(_ name: String = "a", content: String = "x", _ oddity: ZipBuilder.Oddity = .init()) -> ZipBuilder {
        var zip = ZipBuilder()
        zip.add(name, content: content, oddity)
        return zip
    }

    private func names(_ bytes: [UInt8]) throws -> [String] {
        let extraction = try Extraction()
        try extraction.extract(bytes)
        return try extraction.tree()
    }

    // MARK: The end

    /// A whole second zip fits in.
    @Test func whatLiesBetweenTheDirectoryAndItsEnd() throws {
        let other = zip("other").finished
        for gap in [[0], other, Array(other.dropLast(22))] {
            #expect(try Extraction().problem(zip().finished(gap: gap))?.code == .ambiguous)
            #expect(try Extraction().problem(zip().finishedWide(gap: gap))?.code == .ambiguous)
            #expect(try Extraction().problem(zip().finishedWide(within: gap))?.code == .ambiguous)
        }
        #expect(try names(zip().finished(comment: String(repeating: "c", count: 0xFFFF))) == ["a"])
        #expect(try names(zip().finishedWide(claimed: 1)) == ["a"])
        #expect(try Extraction().problem(zip().finishedWide(claimed: 2))?.code == .ambiguous)
    }

    @Test(.enabled(if: Tool.find("zip") != nil, Comment(rawValue: Tool.skip("zip"))), arguments: ["-fz", "-fz-"])
    func recordsThatNobodyNeeds(option: String) throws {
        let extraction = try Extraction()
        try extraction.scratch.write("x", to: "a")
        let made = try #require(Tool.find("zip")).run(["-q", option, "archive.zip", "a"], in: extraction.scratch.path)
        try #require(made.status == 0, "\(made.text)")
        #expect(try names(try extraction.scratch.read("archive.zip")) == ["a"])
    }

    @Test func whatTheDirectoryIsEncryptedBy() throws {
        var header = zip("a", odd { $0.flags = 0x2041 }).finished
        let directory = try #require(header.indices.first { header[$0...].starts(with: [0x50, 0x4B, 1, 2]) })
        header.replaceSubrange(directory..<(directory + 20), with: [UInt8](repeating: 0x5A, count: 20))
        #expect(try Extraction().problem(header)?.code == .encrypted)
    }

    /// The record of a large archive says it, too (its second version).
    @Test func whatTheEndSaysOfEncryption() throws {
        var bytes = zip().finishedWide(within: [UInt8](repeating: 0, count: 20))
        let place = try #require(bytes.indices.last { bytes[$0...].starts(with: [0x50, 0x4B, 6, 6]) })
        bytes[place + 4] = 64
        #expect(try names(bytes) == ["a"])
        bytes.replaceSubrange((place + 74)..<(place + 76), with: [0x10, 0x66])
        // None of its entries is on this disk.
        bytes[place + 24] = 0
        let problem = try Extraction().problem(bytes)
        #expect(problem?.code == .encrypted && problem?.entry == nil)
        #expect(problem?.remedy == "Send the archive without a password.")
    }

    // MARK: Headers

    @Test func sizesOf64BitsMustAgree() throws {
        let good = odd { $0.isWide = true }
        #expect(try names(zip("a", good).finished) == ["a"])
        for sizes in [(2, 1), (1, 2), (0, 0)] {
            let wrong = zip("a", odd { ($0.isWide, $0.localWide) = (true, sizes) })
            #expect(try Extraction().problem(wrong.finished)?.code == .damaged, "\(sizes)")
        }
        // Not known yet when the header was written.
        #expect(try names(zip("a", odd { ($0.isWide, $0.localWide, $0.flags) = (true, (0, 0), 8) }).finished) == ["a"])
    }

    @Test func extraFieldsThatOverrun() throws {
        let field: [UInt8] = [0x99, 0x99, 4, 0, 1, 2, 3, 4]
        for good in [field, field + [0], [0, 0, 0], field + field] {
            #expect(try names(zip("a", odd { ($0.extra, $0.localExtra) = (good, good) }).finished) == ["a"])
        }
        let bads: [[UInt8]] = [Array(field.dropLast()), field + [1, 0, 9, 0], [0x75, 0x70, 0xFF, 0xFF]]
        for bad in bads {
            #expect(try Extraction().problem(zip("a", odd { $0.extra = bad }).finished)?.code == .damaged)
            #expect(try Extraction().problem(zip("a", odd { $0.localExtra = bad }).finished)?.code == .damaged)
        }
    }

    // MARK: Names

    @Test func namesInUnicode() throws {
        let stored: [UInt8] = [0x6D, 0x84, 0x72, 0x7A]
        func zip(_ extra: [UInt8], local: [UInt8]? = nil, stored: [UInt8] = stored, flags: Int = 0) -> [UInt8] {
            var zip = ZipBuilder()
            zip.add(
                stored, content: [1], odd { ($0.extra, $0.localExtra, $0.flags) = (extra, local ?? extra, flags) })
            return zip.finished
        }
        let field = ZipBuilder.unicodeName("märz", for: stored)
        func names(_ bytes: [UInt8]) throws -> [[UInt8]] {
            let extraction = try Extraction()
            try extraction.extract(bytes)
            return try FileTree.list(extraction.folder).files.map(\.bytes)
        }
        #expect(try names(zip(field)) == [Array("märz".utf8)])
        #expect(try names(zip(field, local: [])) == [Array("märz".utf8)])
        // It is to be UTF-8, and is ignored otherwise.
        let broken = [0x75, 0x70, 7, 0] + field[4..<9] + [0x6D, 0xE4]
        #expect(try names(zip(broken)) == [stored])
        // Somebody renamed it since.
        #expect(try names(zip(field, stored: Array("other".utf8))) == [Array("other".utf8)])
        var policy = Extraction.policy
        policy.nameEncoding = .cp437
        let converted = try Extraction()
        try converted.extract(zip(field), policy)
        #expect(try converted.tree() == ["märz"])
        for name in ["../x", "a\\b", "/x", "a\nb", "\u{202E}gpj.exe", "a//b"] {
            let problem = try Extraction().problem(zip(ZipBuilder.unicodeName(name, for: stored)))
            #expect(problem?.code == .unsafeEntry && problem?.entry == Array(name.utf8), "\(name)")
        }
        let differs = zip(field, local: ZipBuilder.unicodeName("mars", for: stored))
        #expect(try Extraction().problem(differs)?.code == .damaged)
    }

    /// Also where libarchive reads the content.
    @Test(.enabled(if: Tool.find("bzip2") != nil, Comment(rawValue: Tool.skip("bzip2"))))
    func namesInUnicodeOfWhatTheLibraryReads() throws {
        let extraction = try Extraction()
        let content = Array(String(repeating: "rare ", count: 300).utf8)
        let path = try extraction.scratch.write(content, to: extraction.scratch.path("rare"))
        try #require(try #require(Tool.find("bzip2")).run(["-k", path.string]).status == 0)
        let stored: [UInt8] = [0x6D, 0x84, 0x72, 0x7A]
        let field = ZipBuilder.unicodeName("märz", for: stored)
        var zip = ZipBuilder()
        zip.add(
            stored, content: try extraction.scratch.read("rare.bz2"), mode: 0o010600,
            odd {
                ($0.method, $0.size, $0.checksum) = (12, content.count, CRC32Sum.of(content))
                ($0.extra, $0.localExtra) = (field, field)
            })
        #expect(try names(zip.finished) == ["märz"])
    }

    // MARK: Types

    /// `… | zip x.zip -` gives an entry the type of the pipe that it came from.
    @Test func whatCameFromAPipe() throws {
        var piped = ZipBuilder()
        piped.add("-", content: "x", mode: 0o010600)
        #expect(try names(piped.finished) == ["-"])
        var pipe = ZipBuilder()
        pipe.add("-", mode: 0o010600)
        #expect(try Extraction().problem(pipe.finished)?.code == .unsafeEntry)
    }

    @Test func modesWithoutAType() throws {
        for system in [3, 0, 10, 19] {
            var zip = ZipBuilder()
            zip.add("d/", mode: 0o755, odd { $0.system = system })
            zip.add("d/f", content: "x", mode: 0o644, odd { $0.system = system })
            zip.add("g", content: "x", mode: 0, odd { $0.system = system })
            #expect(try names(zip.finished) == ["d/", "d/f", "g"], "\(system)")
        }
    }

    // MARK: What lies between entries

    @Test func theMarkOfAnArchiveThatWasToBeSplit() throws {
        for mark in [Array("PK00".utf8), [0x50, 0x4B, 7, 8]] {
            var zip = ZipBuilder()
            zip.fill(mark)
            zip.add("a", content: "x")
            #expect(try names(zip.finished) == ["a"])
            var unlisted = ZipBuilder()
            unlisted.fill(mark)
            unlisted.add("u", content: "x", odd { $0.isUnlisted = true })
            unlisted.add("a", content: "x")
            #expect(try Extraction().problem(unlisted.finished)?.code == .ambiguous)
        }
    }

    /// Others look for the next header, whatever lies before it.
    @Test func entriesBehindOtherBytes() throws {
        let large = [UInt8](repeating: 0x50, count: 100_000)
        let nameless = [0x50, 0x4B, 3, 4, 20, 0, 8, 0, 8] + [UInt8](repeating: 0, count: 21)
        var hidden = ZipBuilder()
        hidden.add("evil", content: "x")
        for junk in [Array("JUNKJUNK".utf8), [0x50, 0x4B, 7, 8] + Array("junk".utf8), large] {
            for entry in [Array(hidden.finished.dropLast(22)), nameless] {
                for place in 0..<3 {
                    var zip = ZipBuilder()
                    for index in 0..<3 {
                        if index == place { zip.fill((place == 0 ? [0x50, 0x4B, 7, 8] : []) + junk + entry) }
                        // The library reads what is compressed otherwise.
                        if index < 2 { zip.add("\(index)", content: "x") }
                    }
                    #expect(try Extraction().problem(zip.finished)?.code == .ambiguous, "\(place)")
                }
            }
            var zip = ZipBuilder()
            zip.add("a", content: "x")
            zip.fill(junk)
            #expect(try names(zip.finished) == ["a"])
        }
    }

    @Test func padding() throws {
        for count in [30, 31, 100, 30 + 0xFFFF] {
            var zip = ZipBuilder()
            zip.fill(ZipBuilder.padding(count) + ZipBuilder.padding(40))
            zip.add("a", content: "x")
            zip.fill(ZipBuilder.padding(40) + ZipBuilder.padding(count))
            zip.add("b", content: "x")
            zip.fill(ZipBuilder.padding(count))
            #expect(try names(zip.finished) == ["a", "b"], "\(count)")
        }
        for place in 0..<3 {
            var zip = ZipBuilder()
            for index in 0..<3 {
                if index == place { zip.fill(ZipBuilder.padding(40) + ZipBuilder.padding(50, name: "u")) }
                if index < 2 { zip.add("\(index)", content: "x") }
            }
            #expect(try Extraction().problem(zip.finished)?.code == .ambiguous, "\(place)")
        }
    }
}
