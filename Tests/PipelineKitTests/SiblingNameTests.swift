import Files
import PipelineKit
import Testing

@Suite("Names of siblings") struct SiblingNameTests {
    @Test(
        "A sibling's name says which drop it lies beside",
        arguments: [
            ("a.zip.part", "a.zip"), ("a.PART", "a"), ("a.filepart", "a"), ("a b.iso.aria2", "a b.iso"),
            ("x.crdownload", "x"), (".notes.txt.swp", "notes.txt"), (".~lock.list.ods#", "list.ods"),
            ("shop.db-wal", "shop.db"), ("shop.db-journal", "shop.db"), ("part.part", "part"),
        ])
    func named(sibling: String, drop: String) throws {
        let name = try #require(FileName(sibling)), expected = try #require(FileName(drop))
        #expect(SiblingNames.drop(of: name) == expected)
        // As programs write it.
        if sibling != "a.PART" { #expect(SiblingNames.siblings(of: expected).contains(name)) }
    }

    @Test(
        "All other names are nobody's",
        arguments: ["a", "part", ".part", "-wal", ".swp", "..swp", ".~lock.#", "a.swp", "~lock.a#", "a.parts", "a_wal"])
    func unnamed(_ text: String) throws {
        #expect(SiblingNames.drop(of: try #require(FileName(text))) == nil)
    }

    @Test("Each kind finds its own name again, and no other kind does")
    func unambiguous() throws {
        let drop = try #require(FileName("x"))
        let names = SiblingNames.siblings(of: drop)
        #expect(names.count == SiblingNames.rules.count && Set(names).count == names.count)
        for name in names { #expect(SiblingNames.drop(of: name) == drop) }
        // A name that has no room for the ending has no such sibling.
        let long = try #require(FileName(String(repeating: "x", count: FileName.longest)))
        #expect(SiblingNames.siblings(of: long).isEmpty)
    }
}
