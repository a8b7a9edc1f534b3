import Files
import Platform
import SystemPackage
import TestTools
import Testing

@testable import FolderWatch

/// Reading alone; nobody says when.
@Suite("FollowReader", .timeLimit(.minutes(2))) struct FollowReaderTests {
    private let file: FollowedFile

    init() throws { file = try FollowedFile() }

    // MARK: One file

    @Test("What is appended is told, from the start or the end")
    func appended() throws {
        try file.append("before ")
        var fromStart = try file.reader()
        var fromEnd = try file.reader(from: .end)
        try fromEnd.open()
        #expect(try all(&fromStart) == "before ")
        try file.append("after")
        #expect(try all(&fromStart) == "after")
        #expect(try all(&fromEnd) == "after")
        #expect(try all(&fromEnd) == "")
    }

    @Test("Of a file that comes later all is told")
    func later() throws {
        var reader = try file.reader(from: .end)
        #expect(try all(&reader) == "")
        try file.append("all")
        #expect(try all(&reader) == "all")
    }

    @Test("A large file is told in pieces")
    func pieces() throws {
        let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* $0 >> 3) }
        try file.scratch.write(bytes, to: file.path)
        var reader = try file.reader()
        var told: [UInt8] = []
        while let piece = try reader.next() {
            #expect(piece.bytes.count <= 65_536)
            told += piece.bytes
        }
        #expect(told == bytes)
    }

    @Test("It goes on where it was closed")
    func closed() throws {
        try file.append("one ")
        var reader = try file.reader()
        #expect(try all(&reader) == "one ")
        reader.close()
        reader.close()
        try file.append("two")
        #expect(try all(&reader) == "two")
    }

    @Test("It goes on from a checkpoint")
    func checkpointed() throws {
        try file.append(String(repeating: "x", count: 1000))
        let checkpoint = try file.checkpoint()
        #expect(checkpoint.offset == 1000)
        #expect(checkpoint.tail.count == 64)
        try file.append("more")
        var reader = try file.reader(from: .checkpoint(checkpoint))
        #expect(try all(&reader) == "more")
    }

    // MARK: Truncation

    @Test("A truncated file is told from its beginning")
    func truncated() throws {
        try file.append("some text")
        var reader = try file.reader()
        #expect(try all(&reader) == "some text")
        try file.truncate(to: 4)
        #expect(try all(&reader) == "^some")
        try file.truncate(to: 0)
        #expect(try all(&reader) == "^")
        #expect(try all(&reader) == "")
        try file.append("new")
        #expect(try all(&reader) == "new")
    }

    @Test(
        "A file that is written anew is found by its tail",
        arguments: [0, 5, 1000])
    func rewritten(_ more: Int) throws {
        try file.append("old text")
        var reader = try file.reader()
        #expect(try all(&reader) == "old text")
        let new = "new text" + String(repeating: "+", count: more)
        try file.scratch.write(new, to: "folder/log")
        #expect(try all(&reader) == "^" + new)
    }

    @Test("So is one that was followed from its end")
    func rewrittenAfterEnd() throws {
        try file.append("old text")
        var reader = try file.reader(from: .end)
        try reader.open()
        try file.scratch.write("new text and more", to: "folder/log")
        #expect(try all(&reader) == "^new text and more")
    }

    /// Neither while there is still something to read.
    @Test("So is one that was not read to its end")
    func rewrittenInMiddle() throws {
        try file.scratch.write([UInt8](repeating: 0x61, count: 100_000), to: file.path)
        var reader = try file.reader()
        #expect(try reader.next()?.bytes.count == 65_536)
        try file.scratch.write([UInt8](repeating: 0x62, count: 100_000), to: file.path)
        let piece = try #require(try reader.next())
        #expect(piece.isTruncated)
        #expect(piece.bytes == [UInt8](repeating: 0x62, count: 65_536))
        #expect(piece.checkpoint.offset == 65_536)
    }

    /// As `logrotate` does with `copytruncate`.
    @Test("A file that is copied and truncated goes on, as with logrotate's copytruncate")
    func copyTruncated() throws {
        try file.append("one\n")
        var reader = try file.reader()
        #expect(try all(&reader) == "one\n")
        try file.scratch.write("one\n", to: "folder/log.1")
        try file.truncate(to: 0)
        try file.append("two\n")
        #expect(try all(&reader) == "^two\n")
    }

    // MARK: Replacement

    /// As editors do.
    @Test("A file that is renamed over it is told from its beginning, as editors do")
    func renamedOver() throws {
        try file.append("old")
        var reader = try file.reader()
        #expect(try all(&reader) == "old")
        try file.append(" end")
        try file.append("new", to: "tmp")
        try file.rename("tmp", "log")
        #expect(try all(&reader) == " end|new")
        try file.append(" more")
        #expect(try all(&reader) == " more")
    }

    /// As `logrotate` does with `create`: the writer has the old one until it is told to open the new one.
    @Test("A rotated file is read to its end first, also what comes late")
    func rotated() throws {
        try file.append("a")
        var reader = try file.reader()
        #expect(try all(&reader) == "a")
        try file.append("b")
        try file.rename("log", "log.1")
        #expect(try all(&reader) == "b")
        try file.append("")
        try file.append("c", to: "log.1")
        #expect(try all(&reader) == "c")
        try file.append("d", to: "log.1")
        try file.append("e")
        #expect(try all(&reader) == "d|e")
    }

    @Test("A file may be away for a while")
    func away() throws {
        try file.append("one ")
        var reader = try file.reader()
        #expect(try all(&reader) == "one ")
        try file.rename("log", "away")
        try file.append("two ", to: "away")
        #expect(try all(&reader) == "two ")
        try file.rename("away", "log")
        try file.append("three")
        #expect(try all(&reader) == "three")
        try file.remove()
        #expect(try all(&reader) == "")
        try file.append("new")
        #expect(try all(&reader) == "|new")
    }

    /// The new one may be cut before anything of it was told.
    @Test("A new file may be truncated before anything of it is told")
    func newTruncated() throws {
        try file.append("one")
        var reader = try file.reader()
        #expect(try all(&reader) == "one")
        try file.remove()
        try file.append("two")
        #expect(try all(&reader) == "|two")
        reader.close()
        try file.truncate(to: 0)
        #expect(try all(&reader) == "^")
    }
}
