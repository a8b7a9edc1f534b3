import Files
import Glibc
import PipelineKit
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

    @Test("Another program's database is not taken for a journal without anything in it")
    func anothers() throws {
        try database().execute("CREATE TABLE x (a); INSERT INTO x VALUES (1)")
        let error = #expect(throws: JournalError.self) { _ = try open() }
        #expect(error?.kind == .corrupt && error?.message.contains("another program's") ?? false)
        #expect(try database().first("SELECT a FROM x")?.first == .integer(1))
    }

    @Test("What an older Dropmill did is counted")
    func figures() throws {
        let journal = try open()
        try journal.write((1...3).map { try JournalSamples.job($0, state: .processed) }, pipelines: [])
        try journal.write([JournalSamples.job(4, pipeline: "ein \"Ordner\"", state: .failed)], pipelines: [])
        journal.close()
        try database().execute("DROP TABLE figures; DELETE FROM grdb_migrations WHERE identifier = '10 figures'")
        let newer = try open()
        defer { newer.close() }
        try newer.write([JournalSamples.job(5, state: .processed)], pipelines: [])
        let figures = try newer.figures()
        #expect(figures["scans"]?.ended[.processed]?.jobs == 4 && figures["scans"]?.durations.count == 1)
        #expect(figures["ein \"Ordner\""]?.ended[.failed]?.jobs == 1)
    }

    @Test("What failed before and was not sent in again is open, but for what was released")
    func openFailures() throws {
        let journal = try open()
        var jobs = try (1...4).map { try JournalSamples.job($0, state: .failed) }
        jobs[1].retryOf = jobs[0].id
        jobs[2].failure = .released(by: "anna")
        try journal.write(jobs + [JournalSamples.job(5, state: .processed)], pipelines: [])
        let before = try journal.counts()
        journal.close()
        try database().execute(
            """
            DROP INDEX jobs_open;
            ALTER TABLE jobs DROP COLUMN open;
            ALTER TABLE jobs DROP COLUMN code;
            DROP TABLE failures;
            DELETE FROM totals WHERE state = 'open';
            DELETE FROM grdb_migrations WHERE identifier IN ('11 open failures', '12 failures')
            """)
        let newer = try open()
        defer { newer.close() }
        #expect(try newer.openFailures() == ["scans": 2] && newer.counts() == before)
        var again = try JournalSamples.job(6, state: .queued)
        again.retryOf = jobs[3].id
        try newer.write([again], pipelines: [])
        #expect(try newer.openFailures() == ["scans": 1])
    }

    @Test("What failed before can be dismissed, and is told apart from what was")
    func dismissals() throws {
        let journal = try open()
        let jobs = try (1...2).map { try JournalSamples.job($0, state: .failed) }
        try journal.write(jobs, pipelines: [])
        journal.close()
        try database().execute(
            "ALTER TABLE jobs DROP COLUMN dismissed; DELETE FROM grdb_migrations WHERE identifier = '12 dismissals'")
        let newer = try open()
        defer { newer.close() }
        #expect(try newer.jobs(JobQuery()) == jobs.reversed())
        let dismissal = Dismissal(by: "anna", at: JournalSamples.time(9))
        #expect(try newer.setDismissed([jobs[0].id], dismissal) == [jobs[0].id])
        #expect(try newer.openFailures() == ["scans": 1] && newer.job(jobs[0].id)?.dismissed == dismissal)
    }

    @Test("What is open is in groups, as if they had always been kept")
    func failures() throws {
        let journal = try open()
        var jobs = try (1...4).map { try JournalSamples.job($0, state: .failed) }
        for place in jobs.indices { jobs[place].failure = .file("code.\(place % 2)", "It is bad.") }
        jobs[1].drop = Drop(name: jobs[1].drop.name, size: .max, droppedAt: jobs[1].drop.droppedAt)
        jobs[3].failure = nil
        try journal.write(jobs, pipelines: [])
        _ = try journal.setDismissed([jobs[2].id], Dismissal(by: "anna", at: JournalSamples.time(9)))
        let before = try journal.failureGroups(of: nil, since: nil, at: JournalSamples.time(9))
        #expect(before.groups.map(\.code) == ["", "code.0", "code.1"] && before.groups[2].bytes == .max)
        journal.close()
        try database().execute(
            """
            DROP INDEX jobs_open;
            ALTER TABLE jobs DROP COLUMN code;
            DROP TABLE failures;
            CREATE INDEX jobs_open ON jobs (pipeline, open) WHERE open IS NOT NULL;
            DELETE FROM grdb_migrations WHERE identifier = '12 failures'
            """)
        let newer = try open()
        defer { newer.close() }
        #expect(try newer.failureGroups(of: nil, since: nil, at: JournalSamples.time(9)) == before)
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
            #expect(error?.message.contains("'16 files'") == true)
        }
    }

    @Test("Before the schema of an older one is changed, it is kept once, and a newer one's refusal names it")
    func upgrade() throws {
        let journal = try open()
        try journal.write([JournalSamples.job(1)], pipelines: [])
        journal.close()
        let copies = { try scratch.tree().filter { $0.hasPrefix("journal.before-") && $0.hasSuffix(".sqlite") } }
        #expect(try copies().isEmpty, "a new one was nothing before")
        let older =
            "ALTER TABLE retries DROP COLUMN at; DROP TABLE figures; "
            + "DELETE FROM grdb_migrations WHERE identifier IN ('9 notes', '10 figures')"
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
