import Files
import Glibc
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Archive

/// What a zip's directory says must be so.
@Suite struct ZipTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    private func odd(_ change: (inout ZipBuilder.Oddity) -> Void) -> ZipBuilder.Oddity {
        var oddity = ZipBuilder.Oddity()
        change(&oddity)
        return oddity
    }

    private func problem(_ oddity: ZipBuilder.Oddity, name: String = "b") throws -> ArchiveError.Problem? {
        var zip = ZipBuilder()
        zip.add("a", content: "first")
        zip.add(name, content: "second", oddity)
        return try Extraction().problem(zip.finished)
    }

    @Test func whatTheHeadersSayMustAgree() throws {
        #expect(try problem(odd { $0.localName = Array("c".utf8) })?.code == .damaged)
        #expect(try problem(odd { $0.localName = Array("bb".utf8) })?.code == .damaged)
        #expect(try problem(odd { $0.localChecksum = 7 })?.code == .damaged)
        #expect(try problem(odd { $0.checksum = 7 })?.fact.contains("checksum") == true)
        #expect(try problem(odd { $0.size = 5 })?.code == .damaged)
        #expect(try problem(odd { $0.size = 7 })?.code == .damaged)
    }

    @Test func whatFollowsTheDataMustAgree() throws {
        #expect(try problem(odd { $0.flags = 8 }) == nil)
        // Not known yet when the header is written.
        #expect(try problem(odd { ($0.flags, $0.localChecksum) = (8, 0) }) == nil)
        #expect(try problem(odd { ($0.flags, $0.descriptor) = (8, []) })?.code == .damaged)
        let wrong = [0x50, 0x4B, 7, 8] + [UInt8](repeating: 9, count: 12)
        #expect(try problem(odd { ($0.flags, $0.descriptor) = (8, wrong) })?.code == .damaged)
    }

    @Test func largeArchives() throws {
        var zip = ZipBuilder()
        zip.add(Array("wide".utf8), content: Array("content".utf8), odd { $0.isWide = true })
        zip.add("narrow", content: "other")
        try extraction.extract(zip.finishedWide)
        #expect(try extraction.scratch.text("out/wide") == "content")
        #expect(try extraction.scratch.text("out/narrow") == "other")
    }

    /// Another reader would find it.
    @Test func entriesThatAreNotListed() throws {
        for place in 0..<3 {
            var zip = ZipBuilder()
            for index in 0..<3 { zip.add("f\(index)", content: "x", odd { $0.isUnlisted = index == place }) }
            #expect(try Extraction().problem(zip.finished)?.code == .ambiguous, "the one at \(place)")
        }
    }

    @Test func twoEnds() throws {
        var zip = ZipBuilder()
        zip.add("a", content: "x")
        #expect(try Extraction().problem(zip.finished(comment: "PK\u{5}\u{6} and more"))?.code == .ambiguous)
    }

    /// Where libarchive reads an entry, all others are read as ever, and what it reads is what the directory says.
    @Test(.enabled(if: Tool.find("bzip2") != nil, Comment(rawValue: Tool.skip("bzip2"))))
    func entriesThatTheLibraryReads() throws {
        let content = Array(String(repeating: "rare ", count: 300).utf8)
        let path = try extraction.scratch.write(content, to: extraction.scratch.path("rare"))
        try #require(try #require(Tool.find("bzip2")).run(["-k", path.string]).status == 0)
        let packed = try extraction.scratch.read("rare.bz2")
        func zip(
            rare: (inout ZipBuilder.Oddity) -> Void = { _ in }, other: (inout ZipBuilder.Oddity) -> Void = { _ in },
            mode: Int = 0o100644
        ) -> [UInt8] {
            var zip = ZipBuilder()
            zip.add(
                Array("rare".utf8), content: packed,
                odd {
                    ($0.method, $0.size, $0.checksum) = (12, content.count, CRC32Sum.of(content))
                    rare(&$0)
                })
            zip.add(Array("other".utf8), content: Array("there".utf8), mode: mode, odd(other))
            return zip.finished
        }
        let extraction = try Extraction()
        let report = try extraction.extract(zip())
        #expect(report.integrity == .verified)
        #expect(try extraction.scratch.read("out/rare") == content)
        #expect(try Extraction().problem(zip(rare: { $0.localName = Array("rarE".utf8) }))?.code == .damaged)
        #expect(try Extraction().problem(zip(rare: { $0.localName = Array("..\\x".utf8) }))?.code == .damaged)
        #expect(try Extraction().problem(zip(rare: { $0.checksum = 5 }))?.code == .damaged)
        #expect(try Extraction().problem(zip(other: { $0.localName = Array("othes".utf8) }))?.code == .damaged)
        #expect(try Extraction().problem(zip(other: { $0.checksum = 5 }, mode: 0o120777))?.code == .damaged)
        let link = try Extraction().problem(zip(other: { $0.flags = 1 }, mode: 0o120777))
        #expect(link?.code == .unsupported)
        #expect(link?.entry == Array("other".utf8))
    }

    /// Many entries of the same bytes make much of little.
    @Test(arguments: [0, 31, 40])
    func overlappingEntries(offset: Int) throws {
        var zip = ZipBuilder()
        zip.add("kernel", content: String(repeating: "k", count: 200))
        zip.add("again", content: String(repeating: "k", count: 200), odd { $0.offset = offset })
        let problem = try extraction.problem(zip.finished)
        #expect(problem?.code == .unsafeEntry)
        #expect(problem?.fact.contains("shares its bytes") == true)
        #expect(try extraction.tree() == [])
    }

    @Test func whatIsBehindTheEndIsNotIgnored() throws {
        var zip = ZipBuilder()
        zip.add("a", content: "x")
        #expect(
            try Extraction().problem(zip.finished + [0])?.fact == "has 1 byte after its end that would not be unpacked"
        )
        let more = try Extraction().problem(zip.finished(comment: "by us") + [UInt8](repeating: 0, count: 512))
        #expect(more?.code == .damaged && more?.fact.contains("has 512 bytes after its end") == true)
        let much = try Extraction().problem(zip.finished + [UInt8](repeating: 1, count: 100_000))
        #expect(much?.fact.contains("has 100000 bytes after its end") == true)
        let cut = try Extraction().problem(Array(zip.finished.dropLast()))
        #expect(cut?.fact == "ends too early")
        #expect(cut?.remedy.hasPrefix("Send the archive again") == true && more?.remedy.contains("again") == false)
        #expect(try Extraction().problem(zip.finished(comment: "by us")) == nil)
    }

    @Test(arguments: [0, 1, 3, 60_000])
    func anotherNumberOfEntries(claimed: Int) throws {
        var zip = ZipBuilder()
        for name in ["a", "b"] { zip.add(name, content: "x") }
        #expect(try extraction.problem(zip.finished(claimed: claimed)) != nil)
        #expect(try extraction.tree() == [])
    }

    @Test func partsOfSplitArchives() throws {
        var zip = ZipBuilder()
        zip.add("a", content: "x")
        #expect(try extraction.problem(zip.finished(disk: 2))?.fact == "is one part of a split archive")
        let first = [0x50, 0x4B, 7, 8] + zip.bytes + [UInt8](repeating: 1, count: 100)
        #expect(try extraction.problem(first)?.fact == "is one part of a split archive")
    }

    @Test(arguments: [(1, "shrink"), (6, "implode"), (9, "deflate64"), (96, "method 96"), (97, "wavpack")])
    func methodsThatCannotBeRead(number: Int, name: String) throws {
        let problem = try problem(odd { $0.method = number })
        #expect(problem?.code == .unsupported)
        #expect(problem?.fact.contains("'\(name)'") == true)
    }

    @Test(arguments: ["a\\b", "..\\evil", "nul\0.txt", "bell\u{7}", "del\u{7F}", "a//b", "a/./b", ".", "a/"])
    func namesThatAreRefused(name: String) throws {
        var zip = ZipBuilder()
        zip.add(Array(name.utf8), content: [1])
        let problem = try extraction.problem(zip.finished)
        #expect(problem != nil)
        #expect(try extraction.outside().isEmpty)
        #expect(try FileTree.list(extraction.folder).files.isEmpty)
    }

    @Test(arguments: [
        (0o010644, "a named pipe"), (0o020644, "a device"), (0o060644, "a device"), (0o140644, "a socket"),
    ])
    func specialFiles(mode: Int, word: String) throws {
        var zip = ZipBuilder()
        zip.add("special", mode: mode)
        let problem = try extraction.problem(zip.finished)
        #expect(problem?.code == .unsafeEntry)
        #expect(problem?.fact.contains(word) == true)
    }

    @Test func linksAndFolders() throws {
        var zip = ZipBuilder()
        zip.add("d/", mode: 0o040755)
        zip.add("d/f", content: "x")
        zip.add("l", content: "d/f", mode: 0o120777)
        try extraction.extract(zip.finished)
        #expect(try extraction.tree() == ["d/", "d/f", "l -> d/f"])
        var out = ZipBuilder()
        out.add("l", content: "../x", mode: 0o120777)
        #expect(try extraction.problem(out.finished)?.code == .unsafeEntry)
        var privileged = ZipBuilder()
        privileged.add("p", content: "x", mode: 0o104755)
        #expect(try extraction.problem(privileged.finished)?.code == .unsafeEntry)
    }

    @Test func namesOfOtherCharacterSets() throws {
        func names(_ stored: [UInt8], _ encoding: UnpackPolicy.NameEncoding, flags: Int = 0) throws -> [[UInt8]] {
            let extraction = try Extraction()
            var zip = ZipBuilder()
            zip.add(stored, content: [1], odd { ($0.flags, $0.system) = (flags, 0) })
            var policy = Extraction.policy
            policy.nameEncoding = encoding
            try extraction.extract(zip.finished, policy)
            return try FileTree.list(extraction.folder).files.map(\.bytes)
        }
        #expect(try names([0x81], .bytes) == [[0x81]])
        #expect(try names([0x81], .cp437) == [Array("ü".utf8)])
        // Its second byte is a backslash where it stands alone.
        #expect(try names([0x95, 0x5C], .shiftJIS) == [Array("表".utf8)])
        #expect(try names(Array("ü".utf8), .cp437, flags: 0x800) == [Array("ü".utf8)])
    }

    @Test func severalThreadsGiveTheSame() throws {
        var zip = ZipBuilder()
        for index in 0..<600 { zip.add("d\(index % 7)/f\(index)", content: String(repeating: "\(index) ", count: 700)) }
        zip.add("link", content: "d1/f1", mode: 0o120777)
        try extraction.extract(zip.finished)
        let parallel = try Extraction()
        var policy = Extraction.policy
        policy.workers = 4
        let report = try parallel.extract(zip.finished, policy)
        #expect(report.entries == 601)
        #expect(try parallel.tree() == extraction.tree())
        for index in stride(from: 0, to: 600, by: 37) {
            let name = "out/d\(index % 7)/f\(index)"
            #expect(try parallel.scratch.read(name) == extraction.scratch.read(name))
        }
    }

    /// Whichever thread finds it.
    @Test func severalThreadsFailAsOne() throws {
        var zip = ZipBuilder()
        for index in 0..<400 {
            zip.add(
                "f\(index)", content: String(repeating: "x", count: 9000), odd { $0.checksum = index == 333 ? 1 : nil })
        }
        var policy = Extraction.policy
        policy.workers = 4
        #expect(try extraction.problem(zip.finished, policy)?.entry == Array("f333".utf8))
    }

    @Test(
        .enabled(if: Tool.find("7z") != nil, Comment(rawValue: Tool.skip("7z"))),
        arguments: ["-mem=ZipCrypto", "-mem=AES256"])
    func passwords(option: String) throws {
        for name in ["one", "two"] { try extraction.scratch.write(String(repeating: name, count: 300), to: name) }
        let made = try #require(Tool.find("7z")).run(
            ["a", "-bd", "-tzip", "-psecret", option, "archive.zip", "one", "two"], in: extraction.scratch.path)
        try #require(made.status == 0)
        let zip = try extraction.scratch.read("archive.zip")
        #expect(try Extraction().problem(zip)?.code == .encrypted)
        var policy = Extraction.policy
        // Many, so that one of them passes the old encryption's one byte of a check.
        policy.passwords = (0..<600).map { Array("wrong \($0)".utf8) }
        let problem = try Extraction().problem(zip, policy)
        #expect(problem?.code == .encrypted)
        #expect(problem?.fact.contains("600") == true)
        policy.passwords.insert(Array("secret".utf8), at: 300)
        if option.contains("AES") {
            // Damage is no wrong password.
            var damaged = zip
            damaged[70] ^= 1
            #expect(try Extraction().problem(damaged, policy)?.code == .damaged)
        }
        try extraction.extract(zip, policy)
        #expect(try extraction.scratch.text("out/two") == String(repeating: "two", count: 300))
    }

    /// Which password opens it is tried on an entry that claims to be small: no further than to that claim.
    @Test(
        .enabled(if: Tool.find("7z") != nil, Comment(rawValue: Tool.skip("7z"))),
        arguments: ["-mem=ZipCrypto", "-mem=AES256"])
    func passwordsOnABomb(option: String) throws {
        let size = 64 << 20
        let path = extraction.scratch.path("zeros")
        try #require(creat(path.string, 0o644) >= 0 && truncate(path.string, off_t(size)) == 0)
        let made = try #require(Tool.find("7z")).run(
            ["a", "-bd", "-tzip", "-mx=1", "-psecret", option, "archive.zip", "zeros"], in: extraction.scratch.path)
        try #require(made.status == 0)
        var zip = try extraction.scratch.read("archive.zip")
        // Local header, directory, and whatever else: all say that it is small.
        let claim = withUnsafeBytes(of: UInt32(size).littleEndian) { Array($0) }
        var claims = 0
        for place in 0..<(zip.count - 3) where zip[place..<(place + 4)].elementsEqual(claim) {
            zip[place] = 100
            zip[place + 3] = 0
            claims += 1
        }
        try #require(claims == 2)
        var policy = Extraction.policy
        policy.passwords = [Array("secret".utf8)]
        let problem = try extraction.problem(zip, policy)
        if option.contains("AES") {
            #expect(problem?.code == .damaged && problem?.detail == "", "not what libarchive says of it in the end")
        } else {
            #expect(problem?.code == .encrypted)
        }

        let asked = Atomic<Int>(0)
        let monitor = UnpackMonitor(isStopped: { @Sendable in asked.wrappingAdd(1, ordering: .relaxed).newValue < 0 })
        let file = try OpenFile.open(extraction.scratch.path("archive"), O_RDONLY)
        let budget = Budget(policy.limits, monitor, folder: file.descriptor)
        let input = try ArchiveInput(file.descriptor, budget, counts: true)
        let entry = try #require(try ZipDirectory(input, policy, budget).entries.first)
        #expect(try ZipPasswords.trial(of: policy.passwords[0], on: entry, input, policy, budget) == .swells)
        // Asked for each block that is read or comes out, of 64 KiB or so.
        #expect(asked.load(ordering: .relaxed) < 60)
    }
}
