import SQLite
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// Intents of jobs that have no rows yet are one row for all, until each job has its own.
@Suite("Settlements in the journal")
struct SettlementRowTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func open() throws -> SQLiteJournal { try SQLiteJournal.open(writing: scratch.path, durable: false) }

    private func counts(_ journal: SQLiteJournal) throws -> [Int] {
        try journal.read { db in
            try ["jobs", "settlements"].map { Int(try db.first("SELECT count(*) FROM \($0)")?.first?.integer ?? -1) }
        }
    }

    /// The n-th job, about to be moved, with something in every field.
    private func job(_ number: Int) throws -> JobRecord {
        var record = try JournalSamples.fullJob(number)
        (record.state, record.finishedAt, record.pipeline) = (.settling, nil, "scans")
        return record
    }

    private func over(_ record: JobRecord) -> JobRecord {
        var record = record
        (record.state, record.finishedAt, record.intents) = (.processed, .now(), [])
        return record
    }

    @Test("They are read as they were written, until each has a row: then that counts, in any state")
    func untilRows() throws {
        let journal = try open()
        defer { journal.close() }
        let jobs = try (1...3).map(job)
        _ = try journal.write([], intending: jobs, pipelines: [])
        #expect(try counts(journal) == [0, 1])
        #expect(try journal.unfinished() == jobs)
        #expect(try journal.job(jobs[1].id) == jobs[1])
        var query = JobQuery()
        query.limit = 2
        #expect(Set(try journal.jobs(query).map(\.id)).count == 2)
        query.idPrefix = jobs[1].id.text
        #expect(try journal.jobs(query) == [jobs[1]])
        #expect(try journal.counts().map(\.count) == [3])

        var left = jobs[0]
        (left.state, left.intents) = (.queued, [])
        try journal.write([left, over(jobs[1])], pipelines: [])
        #expect(try counts(journal) == [2, 1])
        #expect(try journal.unfinished() == [left, jobs[2]])
        #expect(try journal.job(jobs[1].id)?.state == .processed)

        try journal.write([over(jobs[2])], pipelines: [])
        #expect(try counts(journal) == [3, 0])
        #expect(try journal.unfinished() == [left])
        try journal.write([over(left)], pipelines: [])
        #expect(try journal.unfinished().isEmpty)
        #expect(try counts(journal) == [3, 0])
    }

    @Test("A later run finds them, and removes them with the last row")
    func laterRun() throws {
        let jobs = try (1...3).map(job)
        let first = try open()
        _ = try first.write([], intending: Array(jobs[..<2]), pipelines: [])
        _ = try first.write([], intending: [jobs[2]], pipelines: [])
        first.close()
        let second = try open()
        defer { second.close() }
        #expect(try second.unfinished() == jobs)
        try second.write([over(jobs[0]), over(jobs[2])], pipelines: [])
        #expect(try counts(second) == [2, 1])
        // Their numbers are never given twice while one is there.
        _ = try second.write([], intending: [try job(4)], pipelines: [])
        try second.write([over(jobs[1])], pipelines: [])
        #expect(try counts(second) == [3, 1])
        #expect(try second.unfinished().map(\.id) == [JournalSamples.id(4)])
    }

    @Test("A job that is known already, by a row or by intents that were others, gets a row with its intents")
    func known() throws {
        let journal = try open()
        defer { journal.close() }
        let (first, second) = (try job(1), try job(2))
        var noted = first
        (noted.state, noted.intents) = (.running, [])
        try journal.write([noted], pipelines: [])
        _ = try journal.write([], intending: [first, second], pipelines: [])
        #expect(try counts(journal) == [1, 1])
        #expect(try journal.unfinished() == [first, second])
        var again = second
        again.intents[0].target = "/elsewhere/other"
        _ = try journal.write([], intending: [again], pipelines: [])
        #expect(try counts(journal) == [2, 0])
        #expect(try journal.unfinished() == [first, again])
    }

    @Test("What cannot be written changes nothing of what is known")
    func failing() throws {
        let journal = try open()
        defer { journal.close() }
        let record = try job(1)
        _ = try journal.write([], intending: [record], pipelines: [])
        let other = try Connection(scratch.path("journal.sqlite").string, for: .writing)
        try other.execute("CREATE TRIGGER full BEFORE INSERT ON jobs BEGIN SELECT RAISE(FAIL, 'no room'); END")
        #expect(throws: JournalError.self) { try journal.write([over(record)], pipelines: []) }
        #expect(try counts(journal) == [0, 1])
        try other.execute("DROP TRIGGER full")
        try journal.write([over(record)], pipelines: [])
        #expect(try counts(journal) == [1, 0])
    }

    @Test("Damaged ones are told, wherever they are broken")
    func damaged() throws {
        var row = Parameters()
        JobRow.add(try job(1), to: &row)
        var blob = RowBlob(columns: JobRow.columns.count)
        blob.add(row)
        #expect(RowBlob.rows(of: blob.bytes)?.count == 1)
        for count in 1..<blob.bytes.count - 1 where RowBlob.rows(of: Array(blob.bytes.prefix(count)))?.isEmpty == false
        {
            Issue.record("\(count) bytes are read as a row")
        }
        for place in blob.bytes.indices {
            var bytes = blob.bytes
            bytes[place] ^= 0xFF
            _ = RowBlob.rows(of: bytes)
        }
        #expect(RowBlob.rows(of: []) == nil)
        let journal = try open()
        defer { journal.close() }
        _ = try journal.write([], intending: [try job(1)], pipelines: [])
        try Connection(scratch.path("journal.sqlite").string, for: .writing)
            .execute("UPDATE settlements SET jobs = x'1B07'")
        #expect(throws: JournalError.self) { try journal.unfinished() }
    }
}
