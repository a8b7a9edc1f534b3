import Files
import PipelineKit
import SQLite
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// Messages that wait in the journal, and what it knows of failures.
@Suite struct OutboxTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func open() throws -> SQLiteJournal { try SQLiteJournal.open(writing: scratch.path, durable: false) }

    private func failed(_ number: Int, _ code: String = "archive.damaged", at time: Int) throws -> JobRecord {
        var job = try JournalSamples.job(number)
        (job.state, job.finishedAt, job.pipeline) = (.failed, JournalSamples.time(time), "scans")
        job.failure = .file(code, "It is damaged.", remedy: "Send it again.")
        return job
    }

    @Test func whatIsPutThereIsFoundByTheNextRun() throws {
        let notice = Notice(
            rule: "r", event: "failed", pipeline: "scans", state: .happened, count: .max, title: "scans: 37 failed",
            text: "a\n\"b\"\u{202E}", since: JournalSamples.time(1))
        let key = NoticeStanding.Key(rule: "r", event: "failed", pipeline: "scans")
        do {
            let journal = try open()
            defer { journal.close() }
            var change = OutboxChange()
            (change.notices, change.standings) = ([notice], [NoticeStanding(key, value: "{}")])
            try journal.change(change)
        }
        let journal = try open()
        defer { journal.close() }
        var found = try journal.outbox()
        #expect(found.notices == [notice] && found.standings == [NoticeStanding(key, value: "{}")])
        var later = notice
        (later.tries, later.next) = (3, JournalSamples.time(60))
        var change = OutboxChange()
        (change.notices, change.standings) = ([later], [NoticeStanding(key, value: "[]")])
        try journal.change(change)
        found = try journal.outbox()
        #expect(found.notices == [later] && found.standings.map(\.value) == ["[]"])
        change = OutboxChange()
        (change.removed, change.forgotten) = ([notice.id], [key])
        try journal.change(change)
        found = try journal.outbox()
        #expect(found.notices.isEmpty && found.standings.isEmpty)
    }

    /// One that cannot be read must not keep all others from being sent.
    @Test(arguments: [
        "UPDATE outbox SET content = 'nonsense' WHERE id = 'b'", "UPDATE outbox SET rule = x'00' WHERE id = 'b'",
        "UPDATE outbox SET id = x'62' WHERE id = 'b'", "UPDATE outbox SET since = 'never' WHERE id = 'b'",
    ])
    func oneThatCannotBeReadIsRemoved(damage: String) throws {
        let key = NoticeStanding.Key(rule: "r", event: "failed", pipeline: "scans")
        let notices = ["a", "b", "c"].map { id in
            Notice(
                id: id, rule: "r", event: "failed", pipeline: id, state: .happened, title: id, text: "",
                since: JournalSamples.time(1))
        }
        let journal = try open()
        defer { journal.close() }
        var change = OutboxChange()
        (change.notices, change.standings) = (notices, [NoticeStanding(key, value: "{}")])
        try journal.change(change)
        let database = try Connection(scratch.path("journal.sqlite").string, for: .writing)
        try database.execute(damage)
        try database.execute("INSERT INTO notified VALUES (x'00', 'failed', 'scans', '{}')")
        let found = try journal.outbox()
        #expect(found.notices.map(\.id) == ["a", "c"] && found.standings.map(\.key) == [key])
        #expect(found.unreadable == 2)
        #expect(try journal.outbox().unreadable == 0, "they are gone")
    }

    @Test func changesAreAddedUp() {
        let key = NoticeStanding.Key(rule: "r", event: "failed", pipeline: "scans")
        let notice = Notice(
            rule: "r", event: "failed", pipeline: "scans", state: .happened, title: "", text: "",
            since: JournalSamples.time(1))
        var (one, two) = (OutboxChange(), OutboxChange())
        (one.notices, one.standings) = ([notice], [NoticeStanding(key, value: "1")])
        (two.removed, two.standings) = ([notice.id], [NoticeStanding(key, value: "2")])
        one.add(two)
        #expect(one.notices.isEmpty && one.removed == [notice.id] && one.standings.map(\.value) == ["2"])
    }

    @Test func failuresAreCountedAsFarAsTheyAreOpen() throws {
        let journal = try open()
        defer { journal.close() }
        try journal.write((1...5).map { try failed($0, at: $0 * 10) }, pipelines: [])
        var found = try journal.failures(of: "scans", after: JournalSamples.time(20))
        #expect(found.open == 3 && found.retrying == 0 && found.last == JournalSamples.time(50))
        #expect(try found.newest?.id == JournalSamples.id(5))
        #expect(try journal.failureCount(of: "scans", after: JournalSamples.time(20)) == 3)
        #expect(try journal.failures(of: "press", after: JournalSamples.time(0)) == RecentFailures())

        // One is dismissed, the others are sent in again.
        _ = try journal.setDismissed(
            [try JournalSamples.id(3)], Dismissal(by: "anna", at: JournalSamples.time(60)))
        var retries = try (14...15).map { number in
            var retry = try JournalSamples.job(number)
            (retry.pipeline, retry.retryOf) = ("scans", try JournalSamples.id(number - 10))
            return retry
        }
        try journal.write(retries, pipelines: [])
        found = try journal.failures(of: "scans", after: JournalSamples.time(20))
        #expect(found.open == 0 && found.retrying == 2 && found.newest == nil)
        for index in retries.indices {
            (retries[index].state, retries[index].finishedAt) = (.processed, JournalSamples.time(70))
        }
        try journal.write(retries, pipelines: [])
        #expect(try journal.failures(of: "scans", after: JournalSamples.time(20)).retrying == 0)
        #expect(try journal.failureCount(of: "scans", after: JournalSamples.time(20)) == 3)
    }

    @Test func whoWasCancelledHasNotFailed() throws {
        let journal = try open()
        defer { journal.close() }
        try journal.write(
            [
                try failed(1, Failure.cancelCode, at: 10), try failed(2, Failure.releaseCode, at: 20),
                try failed(3, at: 30),
            ],
            pipelines: [])
        #expect(try journal.failureCount(of: "scans", after: JournalSamples.time(0)) == 1)
        #expect(try journal.failures(of: "scans", after: JournalSamples.time(0)).open == 1)
    }
}
