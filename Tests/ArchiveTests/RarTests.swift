import TestSupport
import Testing

@testable import Archive

/// What libarchive does not say of a rar.
@Suite struct RarTests {
    private static let files = [("first", "content of the first"), ("second", "of the second")]

    private static var archive: RarBuilder {
        var rar = RarBuilder()
        for (name, content) in files { rar.add(name, content: content) }
        rar.add("folder", .folder)
        rar.add("link", .symbolicLink, content: "first")
        return rar
    }

    @Test func storedFiles() throws {
        let extraction = try Extraction()
        let report = try extraction.extract(Self.archive.finished())
        #expect(report.integrity == .verified)
        #expect(try extraction.tree() == ["first", "folder/", "link -> first", "second"])
        #expect(try extraction.scratch.text("out/second") == "of the second")
    }

    /// The library reads past the checksum of what is stored.
    @Test func everyBitOfStoredContentCounts() throws {
        let whole = Self.archive.finished()
        for (name, content) in Self.files + [("link", "first")] {
            let bytes = Array(content.utf8)
            let place = try #require(whole.indices.last { whole[$0...].starts(with: bytes) })
            for index in place..<(place + bytes.count) {
                var damaged = whole
                damaged[index] ^= 1
                let problem = try Extraction().problem(damaged)
                #expect(problem?.code == .damaged && problem?.entry == Array(name.utf8), "\(name) at \(index)")
            }
        }
        var wrong = RarBuilder()
        wrong.add("a", content: "x", checksum: 7)
        #expect(try Extraction().problem(wrong.finished())?.fact.contains("checksum") == true)
    }

    @Test func cuts() throws {
        let whole = Self.archive.finished()
        for length in 20..<(whole.count - 7) {
            #expect(try Extraction().problem(Array(whole[..<length])) != nil, "cut to \(length) of \(whole.count)")
        }
    }

    /// RAR before 3.0 wrote none, and nobody can tell it from one that was cut.
    @Test func withoutARecordOfItsEnd() throws {
        let problem = try Extraction().problem(Array(Self.archive.finished().dropLast(7)))
        #expect(problem?.code == .damaged && problem?.fact.contains("no end record") == true)
        #expect(problem?.remedy.contains("RAR") == true && problem?.remedy.contains("Send") == false)
    }

    @Test func encryptedArchives() throws {
        var rar = RarBuilder()
        rar.add("secret", content: "x", isEncrypted: true)
        let entry = try Extraction().problem(rar.finished())
        #expect(entry?.code == .encrypted && entry?.entry == Array("secret".utf8))
        #expect(try Extraction().problem(Self.archive.finished(.encrypted))?.code == .encrypted)
        let five = try Extraction().problem(RarBuilder.five("secret", content: "x", isFileEncrypted: true))
        #expect(five?.code == .encrypted && five?.entry == Array("secret".utf8))
        #expect(try Extraction().problem(RarBuilder.five("a", content: "x", .encrypted))?.code == .encrypted)
    }

    @Test func parts() throws {
        let part = try Extraction().problem(Self.archive.finished(.part))
        #expect(part?.code == .unsupported && part?.fact == "is one part of a split archive")
        var split = RarBuilder()
        split.add("a", content: "x", isSplit: true)
        #expect(try Extraction().problem(split.finished())?.fact.contains("part of a split archive") == true)
        let five = try Extraction().problem(RarBuilder.five("a", content: "x", .part))
        #expect(five?.fact == "is one part of a split archive")
        #expect(try Extraction().problem(RarBuilder.five("a", content: "x")) == nil)
    }
}
