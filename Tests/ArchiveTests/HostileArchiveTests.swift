import Archive
import PipelineKit
import TestSupport
import Testing

/// Archives made to get out of their folder. Each fails as a whole, with the entry named, and leaves nothing outside.
@Suite struct HostileArchiveTests {
    private let extraction: Extraction

    init() throws { extraction = try Extraction() }

    private func expectRefused(
        _ tar: TarBuilder, naming entry: String, code: ArchiveError.Code = .unsafeEntry,
        at location: SourceLocation = #_sourceLocation
    ) throws {
        let problem = try extraction.problem(tar.finished)
        #expect(problem?.code == code, sourceLocation: location)
        #expect(problem?.entry.map { String(decoding: $0, as: UTF8.self) } == entry, sourceLocation: location)
        #expect(try extraction.outside().isEmpty, sourceLocation: location)
        #expect(try FileTree.list(extraction.folder).links.isEmpty, sourceLocation: location)
    }

    @Test(arguments: ["../evil", "a/../../evil", "a/..", "..", "./../evil", "a/b/../c"])
    func traversal(name: String) throws {
        var tar = TarBuilder()
        tar.add("good", content: "x")
        tar.add(name, content: "x")
        try expectRefused(tar, naming: name)
    }

    @Test func traversalInZip() throws {
        var zip = ZipBuilder()
        zip.add("../evil", content: "x")
        let problem = try extraction.problem(zip.finished)
        #expect(problem?.code == .unsafeEntry)
        #expect(try extraction.outside().isEmpty)
    }

    @Test(arguments: ["/tmp/dropmill-evil", "//evil"])
    func absoluteName(name: String) throws {
        var tar = TarBuilder()
        tar.add(name, content: "x")
        try expectRefused(tar, naming: name)
    }

    @Test(arguments: ["/etc/passwd", "/", "..", "../x", "a/../../x", "a/..", "./../x", ""])
    func symbolicLinkOut(target: String) throws {
        var tar = TarBuilder()
        tar.add("link", .symbolicLink, target: target)
        // libarchive itself refuses a link without a target.
        if target.isEmpty {
            #expect(try extraction.problem(tar.finished) != nil)
        } else {
            try expectRefused(tar, naming: "link")
        }
    }

    @Test func symbolicLinkOutOfADeepFolder() throws {
        var tar = TarBuilder()
        tar.add("a/b/ok", .symbolicLink, target: "../../x")
        tar.add("a/b/link", .symbolicLink, target: "../../../x")
        try expectRefused(tar, naming: "a/b/link")
    }

    @Test func fileThroughALink() throws {
        var tar = TarBuilder()
        tar.add("d", .symbolicLink, target: "e")
        tar.add("d/f", content: "x")
        try expectRefused(tar, naming: "d", code: .conflictingEntries)
    }

    @Test func linkThroughALink() throws {
        var tar = TarBuilder()
        tar.add("a/x", .symbolicLink, target: ".")
        tar.add("b", .symbolicLink, target: "a/x/../..")
        try expectRefused(tar, naming: "b")
    }

    @Test func linkInAFolderThatIsALink() throws {
        var tar = TarBuilder()
        tar.add("a/b/", .folder, mode: 0o755)
        tar.add("d", .symbolicLink, target: "a/b")
        tar.add("d/up", .symbolicLink, target: "../x")
        let problem = try extraction.problem(tar.finished)
        #expect(problem?.code == .conflictingEntries)
        #expect(try extraction.outside().isEmpty)
    }

    @Test(arguments: ["/etc/passwd", "../archive", "a/../../archive"])
    func hardLinkOut(target: String) throws {
        var tar = TarBuilder()
        tar.add("link", .hardLink, target: target)
        try expectRefused(tar, naming: "link")
    }

    @Test func hardLinkToNothing() throws {
        var tar = TarBuilder()
        tar.add("link", .hardLink, target: "later")
        tar.add("later", content: "x")
        try expectRefused(tar, naming: "link")
    }

    @Test func hardLinkToASymbolicLink() throws {
        var tar = TarBuilder()
        tar.add("soft", .symbolicLink, target: "x")
        tar.add("hard", .hardLink, target: "soft")
        try expectRefused(tar, naming: "hard")
    }

    @Test func hardLinkThroughASymbolicLink() throws {
        var tar = TarBuilder()
        tar.add("d/f", content: "x")
        tar.add("s", .symbolicLink, target: "d")
        tar.add("hard", .hardLink, target: "s/f")
        try expectRefused(tar, naming: "hard")
    }

    @Test(arguments: [TarBuilder.Kind.characterDevice, .blockDevice, .fifo])
    func specialFile(kind: TarBuilder.Kind) throws {
        var tar = TarBuilder()
        tar.add("special", kind)
        try expectRefused(tar, naming: "special")
    }

    @Test(arguments: [0o4755, 0o2755, 0o1755, 0o6755])
    func setUserID(mode: Int) throws {
        var tar = TarBuilder()
        tar.add("program", content: "x", mode: mode)
        try expectRefused(tar, naming: "program")
    }

    @Test func setUserIDByAHardLink() throws {
        var tar = TarBuilder()
        tar.add("program", content: "x")
        tar.add("again", .hardLink, target: "program", mode: 0o4755)
        try expectRefused(tar, naming: "again")
    }

    @Test func emptyName() throws {
        var tar = TarBuilder()
        tar.add("", content: "x")
        #expect(try extraction.problem(tar.finished) != nil)
        #expect(try extraction.tree().isEmpty)
    }

    @Test func fileAndFolderOfOneName() throws {
        var tar = TarBuilder()
        tar.add("a", content: "x")
        tar.add("a/b", content: "x")
        try expectRefused(tar, naming: "a/b", code: .conflictingEntries)
    }

    @Test func encryptedZip() throws {
        var zip = ZipBuilder()
        var oddity = ZipBuilder.Oddity()
        oddity.flags = 1
        zip.add(Array("secret".utf8), content: [UInt8](repeating: 1, count: 40), oddity)
        let problem = try extraction.problem(zip.finished)
        #expect(problem?.code == .encrypted)
        #expect(problem?.entry == Array("secret".utf8))
    }

    /// What an ar's own tables are called is no way to have a member's content dropped without a word: by a long name,
    /// behind other members, or twice.
    @Test(arguments: [
        ([("a/", "x"), ("#1/1", "/content")], ArchiveError.Code.unsafeEntry),
        ([("#1/1", "/content"), ("a/", "x")], .unsafeEntry),
        ([("#1/7", "/SYM64/content")], .unsafeEntry),
        ([("a/", "x"), ("/", "content")], .unsafeEntry),
        ([("/", "index"), ("/", "content"), ("a/", "x")], .unsafeEntry),
        ([("//", "//\n"), ("/0", "content"), ("a/", "x")], .damaged),
        ([("//", "long/\n"), ("/0", "x"), ("//", "content")], .damaged),
    ])
    func membersNamedAsTables(members: [(name: String, content: String)], code: ArchiveError.Code) throws {
        #expect(try extraction.problem(ArBuilder.archive(members))?.code == code)
        #expect(try extraction.outside().isEmpty)
    }

    /// They are no entries, but count.
    @Test func tables() throws {
        let ar = ArBuilder.archive([("/", "index"), ("//", "a-long-name-of-a-member/\n"), ("/0", "content")])
        #expect(try extraction.extract(ar).entries == 1)
        #expect(try extraction.tree() == ["a-long-name-of-a-member"])
        var policy = Extraction.policy
        policy.limits.entries = 2
        #expect(try Extraction().problem(ar, policy)?.code == .limit)
        #expect(try Extraction().problem(ArBuilder.archive([("/", "index")]))?.code == .empty)
    }
}
