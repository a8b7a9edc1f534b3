import Files
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// What goes from the journal, when, and what happens where that cannot be archived.
@Suite struct HistoryKeeperTests {
    /// An archive that is a list.
    private final class Shelf: HistoryArchive {
        let jobs = Mutex<[JobID]>([])
        let problem = Mutex<ArchiveProblem?>(nil)
        /// Called when something is archived, before that returns.
        let during = Mutex<(@Sendable () -> Void)?>(nil)
        /// What is known of the folder before anything is to be written.
        let known = Mutex<String?>(nil)

        func problem(with folder: FilePath) -> String? { known.withLock { $0 } }

        func append(
            _ jobs: [JobRecord], to folder: FilePath, behind noted: ArchiveNote?,
            begin: (ArchiveNote) throws(JournalError) -> Void
        ) throws(ArchiveProblem) -> ArchiveNote {
            if let problem = problem.withLock({ $0 }) { throw problem }
            self.jobs.withLock { $0 += jobs.map(\.id) }
            during.withLock { $0 }?()
            return ArchiveNote(
                folder.appending("a"), folder: 1, inode: 2, length: (noted?.length ?? 0) + Int64(jobs.count))
        }

        var ids: [JobID] { jobs.withLock { $0 } }
    }

    private let scratch: ScratchFolder
    private let journal: SQLiteJournal
    private let shelf = Shelf()
    private let events = Events()

    private final class Events: Sendable {
        private let all = Mutex<[String?]>([])
        let ended = Mutex<[Int]>([])
        func note(_ event: EngineEvent) {
            if case .archiving(let trouble) = event { all.withLock { $0.append(trouble) } }
            if case .historyEnded(let jobs, _) = event { ended.withLock { $0.append(jobs) } }
        }
        var troubles: [String?] { all.withLock { $0 } }
    }

    init() throws {
        scratch = try ScratchFolder()
        journal = try SQLiteJournal.open(writing: scratch.path, durable: false)
    }

    private func keeper(
        memory: Duration = .zero, seen: Timestamp? = nil, _ change: (inout HistoryRule) -> Void = { _ in }
    ) -> HistoryKeeper {
        var rule = HistoryRule(.seconds(100))
        change(&rule)
        return HistoryKeeper(journal, rule, memory: memory, seen: seen, archive: shelf) { [events] in events.note($0) }
    }

    /// Jobs that end a second after their numbers.
    private func fill(_ numbers: ClosedRange<Int>) throws {
        try journal.write(try numbers.map { try JournalSamples.job($0, state: .processed) }, pipelines: [])
    }

    private var numbers: [Int] {
        get throws {
            let left = Set(try journal.jobs(JobQuery()).map(\.id))
            return try (1...1600).filter { left.contains(try JournalSamples.id($0)) }
        }
    }

    @Test func whatIsOlderThanItsAgeGoesAndIsArchivedOnce() throws {
        try fill(1...1500)
        let keeper = keeper { $0.archive = "/archive" }
        try keeper.run(at: JournalSamples.time(1401))
        #expect(try numbers == Array(1300...1500))
        #expect(shelf.ids == (try (1...1299).map { try JournalSamples.id($0) }))
        #expect(try journal.archived()?.length == 1299)
        try keeper.run(at: JournalSamples.time(1402))
        #expect(shelf.ids.count == 1300)
    }

    @Test func theOldestGoWhereThereAreTooMany() throws {
        try fill(1...1200)
        try keeper { $0.jobs = 700 }.run(at: JournalSamples.time(1))
        #expect(try numbers == Array(501...1200))
        #expect(shelf.ids.isEmpty)
    }

    @Test func theOldestGoUntilTheJournalIsSmallEnough() throws {
        try fill(1...1600)
        let whole = try journal.room().used
        let bound = { @Sendable (rule: inout HistoryRule) in
            rule = HistoryRule()
            rule.bytes = whole * 3 / 4
        }
        // What ended within an hour stays.
        try keeper(bound).run(at: JournalSamples.time(1700))
        #expect(try numbers.count == 1600)
        try keeper(bound).run(at: JournalSamples.time(5300))
        let left = try numbers
        #expect(try journal.room().used <= whole * 3 / 4)
        #expect(left.count >= 500 && left.last == 1600 && left.first == 1601 - left.count)
    }

    @Test func nothingGoesThatCannotBeArchivedAndThatIsToldOnce() throws {
        try fill(1...600)
        let keeper = keeper {
            $0.archive = "/archive"
            $0.jobs = 10
        }
        shelf.problem.withLock { $0 = .archive("it is gone") }
        for _ in 0..<3 { try keeper.run(at: JournalSamples.time(500)) }
        #expect(try numbers.count == 600)
        #expect(events.troubles == ["it is gone"])
        shelf.problem.withLock { $0 = .archive("it is full") }
        try keeper.run(at: JournalSamples.time(500))
        shelf.problem.withLock { $0 = nil }
        for _ in 0..<2 { try keeper.run(at: JournalSamples.time(500)) }
        #expect(events.troubles == ["it is gone", "it is full", nil])
        #expect(try numbers == Array(591...600))
        #expect(shelf.ids.count == 590)
    }

    @Test func aRowThatCannotBeReadStaysAndHoldsUpNoOther() throws {
        try fill(1...5)
        try journal.write { db in
            try db.run("UPDATE jobs SET history = 'nonsense' WHERE id = ?", JournalSamples.id(2).text)
        }
        let keeper = keeper { $0.archive = "/archive" }
        try keeper.run(at: JournalSamples.time(1000))
        #expect(shelf.ids.count == 4)
        #expect(try journal.finishedCount() == 1)
    }

    /// Long before anything is to go.
    @Test func whatIsWrongWithTheFolderIsToldWhenNothingIsToGo() throws {
        try fill(1...5)
        shelf.known.withLock { $0 = "it is gone" }
        let keeper = keeper { $0.archive = "/archive" }
        for _ in 0..<2 { try keeper.run(at: JournalSamples.time(10)) }
        try keeper.run(at: JournalSamples.time(500))
        #expect(events.troubles == ["it is gone"] && shelf.ids.isEmpty)
        shelf.known.withLock { $0 = nil }
        try keeper.run(at: JournalSamples.time(500))
        #expect(events.troubles == ["it is gone", nil])
        #expect(try numbers.isEmpty)
    }

    /// Told by an earlier run, it is to be taken back by this one.
    @Test func thatItWorksIsToldAtFirst() throws {
        try fill(1...5)
        let keeper = keeper { $0.archive = "/archive" }
        for _ in 0..<2 { try keeper.run(at: JournalSamples.time(500)) }
        #expect(events.troubles == [nil])
    }

    @Test func aClockThatJumpsCostsNothing() throws {
        try fill(1...5)
        let (keeper, begin) = (keeper { $0.jobs = 4 }, MonotonicTime.now())
        try keeper.run(at: JournalSamples.time(10), begin)
        #expect(try numbers == [2, 3, 4, 5])
        for hour in 1...24 {
            try keeper.run(at: JournalSamples.time(900_000 + hour * 3600), begin + .seconds(hour * 3600))
        }
        #expect(try numbers.count == 4)
        try keeper.run(at: JournalSamples.time(900_000 + 25 * 3600), begin + .seconds(25 * 3600))
        #expect(try numbers.isEmpty)
    }

    @Test func aClockThatIsFarFromTheLastRunCostsNothingForADay() throws {
        try fill(1...5)
        let begin = MonotonicTime.now()
        let keeper = keeper(seen: JournalSamples.time(6))
        try keeper.run(at: JournalSamples.time(10_000_000), begin)
        #expect(try numbers.count == 5)
        try keeper.run(at: JournalSamples.time(10_000_000 + 86_400), begin + .seconds(86_400))
        #expect(try numbers.isEmpty)
    }

    private func query(_ content: Int, by job: Int) throws -> SeenQuery {
        SeenQuery(
            "sha256:\(content)", job: try JournalSamples.id(job), pipeline: "scans", everywhere: false, since: nil)
    }

    /// Content is known for as long as a stage asks for it, whatever becomes of its job.
    @Test func whatDedupeNeedsStays() throws {
        try fill(1...2)
        for number in 1...2 {
            let query = SeenQuery(
                "sha256:\(number)", job: try JournalSamples.id(number), pipeline: "scans", everywhere: false, since: nil
            )
            #expect(try journal.first(query, at: JournalSamples.time(number * 100)) == nil)
        }
        try keeper(memory: .seconds(900)).run(at: JournalSamples.time(1050))
        #expect(try numbers.isEmpty)
        func seen(_ number: Int) throws -> SeenJob? {
            try journal.first(try query(number, by: 9), at: JournalSamples.time(1051))
        }
        #expect(try seen(1) == nil)
        #expect(try seen(2)?.id == JournalSamples.id(2))
        #expect(try seen(2)?.isOver == true)
    }

    /// What has become of it counts, also when the history knows no more of it, and another run has begun.
    @Test func contentThatWasNotProcessedIsForgottenWithItsJob() throws {
        let run = RunRecord(boot: "b", process: 1, startedAt: JournalSamples.time(0))
        _ = try journal.beginRun(run)
        var jobs = try (1...3).map { try JournalSamples.job($0, state: $0 == 1 ? .processed : .failed) }
        jobs[2].failure = .calledOff(by: "ops")
        for number in 1...3 { _ = try journal.first(try query(number, by: number), at: JournalSamples.time(number)) }
        try journal.write(jobs, pipelines: [])
        try keeper(memory: .seconds(9000)).run(at: JournalSamples.time(1000))
        _ = try journal.beginRun(run)
        let seen = try (1...3).map { try journal.first(try query($0, by: 9), at: JournalSamples.time(1001)) }
        #expect(try seen.map(\.?.id) == [JournalSamples.id(1), nil, nil])
        #expect(seen.first??.isOver == true)
    }

    @Test func anotherRuleCountsFromTheNextRunOn() throws {
        try fill(1...10)
        let keeper = keeper()
        try keeper.run(at: JournalSamples.time(50))
        #expect(try numbers.count == 10)
        keeper.use(HistoryRule(.seconds(10)))
        try keeper.run(at: JournalSamples.time(50))
        #expect(try numbers.isEmpty)
    }

    /// As where `jobs: 10` was a slip, and is corrected at once.
    @Test func anotherRuleEndsARunByTheLastOne() throws {
        try fill(1...1600)
        let keeper = keeper { ($0.jobs, $0.archive) = (10, "/archive") }
        var rule = HistoryRule(.seconds(100_000))
        rule.jobs = 1500
        shelf.during.withLock { [rule] in $0 = { [keeper] in keeper.use(rule) } }
        try keeper.run(at: JournalSamples.time(1))
        // What was archived by then is gone.
        #expect(try numbers == Array(501...1600))
        #expect(events.ended.withLock { $0 } == [500])
        shelf.during.withLock { $0 = nil }
        try keeper.run(at: JournalSamples.time(1))
        #expect(try numbers.count == 1100)
    }

    @Test func anArchiveThatDoesNotAnswerIsToldOnce() throws {
        try fill(1...10)
        let keeper = keeper { ($0.jobs, $0.archive) = (5, "/archive") }
        shelf.during.withLock {
            $0 = { [keeper] in
                keeper.look()
                keeper.look(at: .now() + .seconds(70))
                keeper.look(at: .now() + .seconds(90))
            }
        }
        try keeper.run(at: JournalSamples.time(1))
        #expect(events.troubles.count == 2 && events.troubles[0]?.contains("does not answer") ?? false)
        // It did in the end.
        #expect(events.troubles.last == .some(nil))
        keeper.look(at: .now() + .seconds(90))
        #expect(events.troubles.count == 2)
    }

    @Test func oneThatEndsDoesNoMore() throws {
        try fill(1...10)
        let keeper = keeper()
        keeper.end()
        try keeper.run(at: JournalSamples.time(1000))
        #expect(try numbers.count == 10)
    }
}
