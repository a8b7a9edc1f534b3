import Files
import TestTools
import Testing

@testable import FolderWatch

@Suite("SettledNews") struct SettledNewsTests {
    private func entry(_ name: String) throws -> FolderEntry { FolderEntry(unknown: try #require(FileName(name))) }

    @Test("Files are told in the order in which they came to rest, and the folder last")
    func order() throws {
        var news = SettledNews()
        let (a, b) = (try entry("a"), try entry("b"))
        news.note(b)
        news.note([a, b])
        news.note(a)
        #expect(news.take() == .settled(b))
        #expect(news.take() == .settled(a))
        #expect(news.take() == .settledFolder([a, b]))
        #expect(news.take() == nil)
        news.note(a)
        #expect(news.take() == .settled(a))
        #expect(news.take() == nil)
    }

    @Test("What changes before it is told is not told, and neither is the folder")
    func forgotten() throws {
        var news = SettledNews()
        let (a, b, c) = (try entry("a"), try entry("b"), try entry("c"))
        [a, b, c].forEach { news.note($0) }
        news.note([a, b, c])
        #expect(news.take() == .settled(a))
        news.forget([a.fileName, b.fileName])
        #expect(news.take() == .settled(c))
        #expect(news.take() == nil)
    }
}
