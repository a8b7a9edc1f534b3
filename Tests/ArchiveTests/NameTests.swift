import PipelineKit
import TestSupport
import Testing

@testable import Archive

/// Which names are refused, and which count as the same.
@Suite struct NameTests {
    private func tar(_ names: [String]) -> [UInt8] {
        var tar = TarBuilder()
        for name in names { tar.add(name, name.hasSuffix("/") ? .folder : .file, mode: 0o755) }
        return tar.finished
    }

    @Test(arguments: [
        "line\nbreak", "a\u{1B}[2J", "del\u{7F}", "a//b", "a/./b", "././a", "a/b//", "c1\u{9B}2J",
        "photo\u{202E}gpj.exe",
        "a\u{200E}b", "a\u{200F}", "\u{61C}a", "\u{202A}a", "a\u{2066}b/c", "a/b\u{2069}", "a\u{2028}b", "a\u{2029}",
    ])
    func refused(name: String) throws {
        let problem = try Extraction().problem(tar(["good", name]))
        #expect(problem?.code == .unsafeEntry)
        #expect(problem?.entry == Array(name.utf8))
    }

    @Test(arguments: ["./a", "a", "a b", "-rf", "...", ".hidden", "..a", "ä", "שלום", "سلام", "a\u{200B}b", "日本"])
    func taken(name: String) throws {
        let extraction = try Extraction()
        try extraction.extract(tar([name]))
        let expected = name.hasPrefix("./") ? String(name.dropFirst(2)) : name
        #expect(try FileTree.list(extraction.folder).files.map(\.bytes) == [Array(expected.utf8)])
    }

    /// A byte that is no text does not hide what is.
    @Test func directionControlsBesideWhatIsNoText() throws {
        var tar = TarBuilder()
        tar.add([0xFF] + Array("\u{202E}txt.exe".utf8))
        #expect(try Extraction().problem(tar.finished)?.code == .unsafeEntry)
        var link = TarBuilder()
        link.add("l", .symbolicLink, target: "\u{2067}a")
        #expect(try Extraction().problem(link.finished)?.code == .unsafeEntry)
        var zip = ZipBuilder()
        zip.add("a\u{2028}b", content: "x")
        #expect(try Extraction().problem(zip.finished)?.code == .unsafeEntry)
    }

    /// What is at the limit is within it, and so it is worded.
    @Test func depths() throws {
        func name(_ count: Int) -> String { (1...count).map { "\($0)" }.joined(separator: "/") }
        #expect(try Extraction().problem(tar([name(32)])) == nil)
        let problem = try Extraction().problem(tar([name(33)]))
        #expect(problem?.fact == "has a path of 33 names, more than 32 (max_depth)")
    }

    private static let pairs: [(first: String, second: String, exact: Bool, strict: Bool)] = [
        ("a", "a", false, false), ("a", "./a", false, false), ("a/", "a/", true, true), ("a", "b", true, true),
        ("a", "A", true, false), ("d/a", "D/b", true, false), ("Straße", "STRASSE", true, false),
        ("ß", "SS", true, false), ("\u{1E9E}", "ss", true, false), ("d/ß/x", "d/ss/y", true, false),
        ("caf\u{E9}", "cafe\u{301}", true, false), ("d/a", "d/b", true, true), ("d", "d/b", false, false),
        ("ı", "i", true, true), ("sınır", "sinir", true, true), ("ſ", "s", true, false), ("İ", "i̇", true, false),
    ]

    @Test(arguments: pairs.indices, [UnpackPolicy.UniqueNames.exact, .strict])
    func names(index: Int, unique: UnpackPolicy.UniqueNames) throws {
        let pair = Self.pairs[index]
        var policy = Extraction.policy
        policy.uniqueNames = unique
        let problem = try Extraction().problem(tar([pair.first, pair.second]), policy)
        #expect(problem?.code == ((unique == .exact ? pair.exact : pair.strict) ? nil : .conflictingEntries))

        var zip = ZipBuilder()
        for name in [pair.first, pair.second] { zip.add(name) }
        let problemInZip = try Extraction().problem(zip.finished, policy)
        #expect((problemInZip == nil) == (problem == nil))
    }

    /// Names that are told apart are kept: no more of them than there may be entries, and before any is made.
    @Test func strictNamesCount() throws {
        var zip = ZipBuilder()
        for index in 0..<10 { zip.add("\(index)/d/d/d/d/f") }
        var policy = Extraction.policy
        policy.uniqueNames = .strict
        policy.limits.entries = 59
        let extraction = try Extraction()
        let problem = try extraction.problem(zip.finished, policy)
        #expect(problem?.code == .limit && problem?.fact.contains("max_entries") == true)
        #expect(problem?.entry == Array("9/d/d/d/d/f".utf8))
        #expect(try extraction.tree() == [])
        policy.limits.entries = 60
        #expect(try Extraction().problem(zip.finished, policy) == nil)
    }

    /// Links that are left out have no names: none of them counts, and none is another spelling of a file's.
    @Test func strictNamesOfLinksThatAreSkipped() throws {
        var (tar, zip) = (TarBuilder(), ZipBuilder())
        tar.add("a", content: "x")
        zip.add("a", content: "x")
        for index in 0..<4 {
            tar.add("\(index)/l", .symbolicLink, target: "x")
            zip.add("\(index)/l", content: "x", mode: 0o120777)
        }
        tar.add("A", .hardLink, target: "a")
        zip.add("A", content: "x", mode: 0o120777)
        for archive in [tar.finished, zip.finished] {
            var policy = Extraction.policy
            policy.uniqueNames = .strict
            policy.limits.entries = 6
            policy.links = .skip
            let extraction = try Extraction()
            #expect(try extraction.problem(archive, policy) == nil)
            #expect(try extraction.tree() == ["a"])
            policy.links = .inside
            #expect(try Extraction().problem(archive, policy)?.code == .limit)
            policy.limits.entries = 20
            #expect(try Extraction().problem(archive, policy)?.code == .conflictingEntries)
        }
    }

    @Test(arguments: UnpackPolicy.Links.allCases)
    func links(links: UnpackPolicy.Links) throws {
        var tar = TarBuilder()
        tar.add("a", content: "x")
        tar.add("soft", .symbolicLink, target: "a")
        tar.add("hard", .hardLink, target: "a")
        var policy = Extraction.policy
        policy.links = links
        let extraction = try Extraction()
        if links == .fail {
            #expect(try extraction.problem(tar.finished, policy)?.fact.contains("links: fail") == true)
            return
        }
        let report = try extraction.extract(tar.finished, policy)
        #expect(try extraction.tree() == (links == .skip ? ["a"] : ["a", "hard", "soft -> a"]))
        #expect(report.skippedLinks == (links == .skip ? 2 : 0))
    }

    /// Left out, not looked at.
    @Test func linksOutAreSkippedToo() throws {
        var tar = TarBuilder()
        tar.add("a", content: "x")
        tar.add("out", .symbolicLink, target: "/etc/passwd")
        var policy = Extraction.policy
        policy.links = .skip
        let extraction = try Extraction()
        try extraction.extract(tar.finished, policy)
        #expect(try extraction.tree() == ["a"])
    }
}
