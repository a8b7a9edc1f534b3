import Files
import Glibc
import SQLite
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// Journals that an older Dropmill wrote, or a newer one.
@Suite("Journals of other versions") struct JournalVersionTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func open() throws -> SQLiteJournal { try SQLiteJournal.open(writing: scratch.path, durable: false) }

    private func database() throws -> Connection {
        try Connection(scratch.path("journal.sqlite").string, for: .writing)
    }

    @Test("Jobs that an older Dropmill called waiting are queued, and those it called vanished are lost")
    func wordsOfOlderOnes() throws {
        let journal = try open()
        let record = try JournalSamples.job(1)
        let other = try JournalSamples.job(2, state: .lost)
        try journal.write([record, other], pipelines: [])
        journal.close()
        try database().execute(
            """
            UPDATE jobs SET state = 'waiting' WHERE state = 'queued';
            UPDATE jobs SET state = 'vanished' WHERE state = 'lost';
            UPDATE totals SET state = 'vanished' WHERE state = 'lost';
            DROP INDEX jobs_unfinished;
            CREATE INDEX jobs_unfinished ON jobs (id) WHERE state NOT IN ('processed', 'failed', 'vanished');
            DELETE FROM grdb_migrations WHERE identifier IN ('6 queued', '7 lost', '8 unfinished');
            """)
        let newer = try open()
        defer { newer.close() }
        #expect(try newer.job(record.id)?.state == .queued)
        #expect(try newer.job(other.id)?.state == .lost)
        #expect(try newer.unfinished().map(\.id) == [record.id])
        #expect(try newer.counts().filter { $0.state == .lost }.map(\.count) == [1])
    }

    @Test("A newer schema is refused, for writing and for reading, and named")
    func newer() throws {
        try open().close()
        try database().execute("INSERT INTO grdb_migrations VALUES ('2 telepathy')")
        for open in [
            { try SQLiteJournal.open(writing: scratch.path, durable: true) },
            { try SQLiteJournal.open(reading: scratch.path) },
        ] {
            let error = #expect(throws: JournalError.self) { _ = try open() }
            #expect(error?.kind == .newer)
            #expect(error?.message.contains("'2 telepathy'") == true)
            #expect(error?.message.contains("'9 notes'") == true)
        }
    }

    @Test("Before the schema of an older one is changed, it is kept once, and a newer one's refusal names it")
    func upgrade() throws {
        let journal = try open()
        try journal.write([JournalSamples.job(1)], pipelines: [])
        journal.close()
        let copies = { try scratch.tree().filter { $0.hasPrefix("journal.before-") && $0.hasSuffix(".sqlite") } }
        #expect(try copies().isEmpty, "a new one was nothing before")
        let older = "ALTER TABLE retries DROP COLUMN at; DELETE FROM grdb_migrations WHERE identifier = '9 notes'"
        let columns = ["modified", "size", "inbox"].map { "ALTER TABLE retries DROP COLUMN \($0);" }.joined()
        try database().execute(columns + older)
        try scratch.write("left by a crash", to: "journal.copying")
        try open().close()
        #expect(try copies().count == 1)
        let copy = try #require(try copies().first)
        #expect(FileStatus.of(scratch.path(copy))?.st_mode == S_IFREG | 0o600)
        #expect(try scratch.tree().filter { $0.hasPrefix("journal.copying") }.isEmpty)
        let kept = try Connection(scratch.path(copy).string, for: .reading)
        #expect(try kept.first("SELECT count(*) FROM jobs") == [.integer(1)])
        #expect(try kept.first("SELECT 1 FROM grdb_migrations WHERE identifier = '9 notes'") == nil)
        // Another change by the same version.
        try database().execute(columns + older)
        let before = FileStatus.of(scratch.path(copy))?.st_ino
        try open().close()
        #expect(try copies() == [copy])
        #expect(FileStatus.of(scratch.path(copy))?.st_ino == before)
        try database().execute("INSERT INTO grdb_migrations VALUES ('99 telepathy')")
        let error = #expect(throws: JournalError.self) { _ = try open() }
        #expect(error?.message.contains("or put in its place what it was before, '\(scratch.path(copy))'") == true)
    }
}
