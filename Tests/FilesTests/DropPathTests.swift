import Files
import PipelineKit
import Testing

@Suite("DropPath") struct DropPathTests {
    private func name(_ text: String) throws -> FileName { try #require(FileName(text)) }

    @Test("A path is its folder and its name, as bytes, with a slash between names")
    func parts() throws {
        let folder = InboxFolder([try name("a"), try #require(FileName([0xED]))])
        let path = DropPath(try name("b c"), in: folder)
        #expect(path.text == "a/\\xED/b c")
        #expect(folder.depth == 2)
        #expect(folder.names.map(\.text) == ["a", "\\xED"])
        #expect(folder.path == DropPath(try #require(FileName([0xED])), in: InboxFolder([try name("a")])))
        #expect(InboxFolder([try name("a")]).appending(try #require(FileName([0xED]))) == folder)
    }

    @Test("One that is cut into folder and name elsewhere has another hash")
    func hashes() throws {
        let paths = [
            DropPath(try name("abc")), DropPath(try name("bc"), in: InboxFolder([try name("a")])),
            DropPath(try name("c"), in: InboxFolder([try name("ab")])),
        ]
        #expect(Set(paths.map(\.hashValue)).count == paths.count)
        #expect(DropPath(try name("abc")).hashValue == paths[0].hashValue)
    }

    @Test("The inbox itself is the top")
    func top() throws {
        #expect(InboxFolder([]) == .top)
        #expect(InboxFolder.top.isTop)
        #expect(InboxFolder.top.depth == 0)
        #expect(InboxFolder.top.names == [])
        #expect(InboxFolder.top.path == nil)
        #expect(DropPath(try name("a")).text == "a")
    }

    @Test("Ordered by bytes of the whole path, as sort does")
    func order() throws {
        let a = InboxFolder([try name("a")])
        let paths = [
            DropPath(try name("b")), DropPath(try name("z"), in: a), DropPath(try name("a-")),
            DropPath(try name("b"), in: a),
        ]
        #expect(paths.sorted().map(\.text) == ["a-", "a/b", "a/z", "b"])
    }

    @Test(
        "Folders are looked into down to the depth, unless their names are ignored or excluded",
        arguments: [
            (1, "x", 0, false), (2, "x", 0, true), (2, "x", 1, false), (3, "x", 1, true), (Int.max, "x", 900, true),
            (3, ".git", 0, false), (3, "x.part", 0, false), (3, "old", 0, false),
        ])
    func entering(depth: Int, text: String, above: Int, isEntered: Bool) throws {
        let rule = MatchRule(include: [try #require(Glob("*.pdf"))], exclude: [try #require(Glob("old"))], depth: depth)
        let folder = InboxFolder(Array(repeating: try name("f"), count: above))
        #expect(rule.enters(try name(text), in: folder) == isEntered)
    }
}
