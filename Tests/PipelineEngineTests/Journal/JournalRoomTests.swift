import Files
import Glibc
import PipelineKit
import SQLite
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// The journal's file: it shrinks with what is in it.
@Suite("The journal's room") struct JournalRoomTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private var size: Int64 { Int64(FileStatus.of(scratch.path("journal.sqlite"))?.st_size ?? 0) }

    /// Jobs with as much of a story as most have.
    private func fill(_ journal: SQLiteJournal, _ count: Int) throws {
        for first in stride(from: 1, through: count, by: 500) {
            let jobs = try (first...min(first + 499, count)).map { number in
                var job = try JournalSamples.job(number, state: .processed)
                job.history = ["claimed", "done", "done", "processed"].map {
                    Transition($0, at: JournalSamples.time(number), stage: "checksum", duration: .milliseconds(number))
                }
                job.outputs = [FilePath("/srv/dropmill/scans/out/report-\(number).pdf")]
                job.original = FilePath("/srv/dropmill/scans/processed/2026-11-28/report-\(number).pdf")
                job.digests = ["sha256": String(repeating: "0123456789abcdef", count: 4)]
                return job
            }
            try journal.write(jobs, pipelines: [])
        }
    }

    @Test("5,000 jobs take less than 5.5 MB, and hardly any once they are gone")
    func shrinks() throws {
        let journal = try SQLiteJournal.open(writing: scratch.path, durable: false)
        try fill(journal, 5000)
        let full = try journal.room()
        #expect(full.isElastic)
        #expect(full.used < 5_500_000)
        #expect(try journal.prune(finishedBefore: .now()) == 5000)
        var steps = 0
        while try journal.giveBack() { steps += 1 }
        #expect(steps > 1)
        journal.close()
        #expect(size < 1_000_000)
        let again = try SQLiteJournal.open(writing: scratch.path, durable: false)
        defer { again.close() }
        try fill(again, 3)
        #expect(try again.jobs(JobQuery()).count == 3)
    }

    @Test("A little room stays for what comes next")
    func keepsAReserve() throws {
        let journal = try SQLiteJournal.open(writing: scratch.path, durable: false)
        defer { journal.close() }
        try fill(journal, 2000)
        let some = try journal.expired(nil, after: nil, limit: 100).map(\.id)
        _ = try journal.remove(some, noting: nil)
        #expect(try journal.room().free > 0)
        #expect(try !journal.giveBack())
    }

    @Test("One from before is rewritten once, with all that is in it, and shrinks from then on")
    func compacts() throws {
        // As an older Dropmill made it.
        let old = try Connection(scratch.path("journal.sqlite").string, for: .writing)
        try old.execute(
            "PRAGMA journal_mode = WAL; CREATE TABLE grdb_migrations (identifier TEXT NOT NULL PRIMARY KEY)")
        let journal = try SQLiteJournal.open(writing: scratch.path, durable: true)
        #expect(try !journal.room().isElastic)
        try fill(journal, 3000)
        let most = try journal.expired(nil, after: nil, limit: 2990).map(\.id)
        _ = try journal.remove(most, noting: nil)
        #expect(try !journal.giveBack())
        let kept = try journal.jobs(JobQuery())
        journal.close()
        let large = size
        let (before, after) = try SQLiteJournal.compact(in: scratch.path)
        #expect(before == large && after < large / 4 && size < large / 4)
        let rewritten = try SQLiteJournal.open(writing: scratch.path, durable: true)
        defer { rewritten.close() }
        #expect(try rewritten.jobs(JobQuery()) == kept)
        #expect(try rewritten.room().isElastic)
    }

    @Test("It stays its owner's, with its log", .enabled(if: geteuid() == 0, "needs root"))
    func compactsForTheDaemon() throws {
        let journal = try SQLiteJournal.open(writing: scratch.path, durable: true)
        try fill(journal, 10)
        journal.close()
        let names = ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"]
        for name in names { try #require(lchown(scratch.path(name).string, 4711, 4712) == 0) }
        _ = try SQLiteJournal.compact(in: scratch.path)
        for name in names {
            let status = try #require(FileStatus.of(scratch.path(name)))
            #expect(status.st_uid == 4711 && status.st_gid == 4712 && status.st_mode & 0o777 == 0o600, "\(name)")
        }
    }

    @Test(
        "A disk that is full leaves the journal as it is, and no draft",
        .enabled(if: DiskImage.isPossible, "\(DiskImage.skip)"))
    func compactsNothingOnAFullDisk() throws {
        let disk = try DiskImage(at: scratch.path("disk"), megabytes: 16)
        let journal = try SQLiteJournal.open(writing: disk.path, durable: true)
        try fill(journal, 8000)
        journal.close()
        let error = #expect(throws: JournalError.self) { try SQLiteJournal.compact(in: disk.path) }
        #expect(error?.message.contains("Free space on its file system.") ?? false, "\(error?.message ?? "")")
        let again = try SQLiteJournal.open(writing: disk.path, durable: true)
        defer { again.close() }
        #expect(try again.finishedCount() == 8000)
    }
}
