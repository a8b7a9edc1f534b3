import Files
import SQLite
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// A process loses all of its locks on a file when it closes any descriptor of it (fcntl(2)), also those of SQLite.
@Suite struct JournalLockTests {
    @Test func whatIsToldOfAnErrorTakesNoLocksAway() throws {
        let scratch = try ScratchFolder()
        let journal = try SQLiteJournal.open(writing: scratch.path, durable: false)
        defer { journal.close() }
        let file = SQLiteJournal.file(in: scratch.path)
        let inode = try #require(FileIdentity.of(file)).inode
        func locks() throws -> Int {
            String(decoding: try ScratchFolder.read("/proc/locks"), as: UTF8.self).split(separator: "\n")
                .count { $0.contains(":\(inode) ") }
        }
        let before = try locks()
        #expect(before > 0)
        for code in [SQLiteError.Code.corrupt, .busy, .io, .cannotOpen] {
            _ = JournalError(SQLiteError(code, "test"), "read", file)
        }
        #expect(try locks() == before)
    }
}
