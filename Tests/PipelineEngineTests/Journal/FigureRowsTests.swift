import Dispatch
import Files
import PipelineKit
import SQLite
import Synchronization
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// The table `figures`, whoever writes it.
@Suite("Figures in the database") struct FigureRowsTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func open() throws -> SQLiteJournal { try SQLiteJournal.open(writing: scratch.path, durable: false) }

    private func processed(_ journal: SQLiteJournal, _ pipeline: String = "scans") throws -> UInt64 {
        try journal.figures()[pipeline]?.ended[.processed]?.jobs ?? 0
    }

    @Test("Several that write at once lose no count")
    func together() throws {
        let journal = try open()
        defer { journal.close() }
        let jobs = try (0..<400).map { try JournalSamples.job($0 + 1, state: .processed) }
        let errors = Mutex<[String]>([])
        DispatchQueue.concurrentPerform(iterations: 4) { thread in
            do {
                for place in stride(from: thread, to: jobs.count, by: 4) {
                    try journal.write([jobs[place]], pipelines: [])
                    try journal.write([], pipelines: [JournalSamples.pipeline("p\(thread)")])
                }
            } catch {
                errors.withLock { $0.append("\(error)") }
            }
        }
        #expect(errors.withLock { $0 } == [])
        #expect(try processed(journal) == 400)
    }

    @Test("What another process counts stays counted")
    func another() throws {
        let (first, second) = (try open(), try open())
        defer { first.close() }
        try first.write([JournalSamples.job(1, state: .processed)], pipelines: [])
        try second.write([JournalSamples.job(2, state: .processed)], pipelines: [])
        second.close()
        try first.write([JournalSamples.job(3, state: .processed)], pipelines: [])
        #expect(try processed(first) == 3)
    }

    @Test("What a transaction that fails was to count is counted by none")
    func failing() throws {
        let journal = try open()
        defer { journal.close() }
        try journal.write([JournalSamples.job(1, state: .processed)], pipelines: [])
        let database = try Connection(scratch.path("journal.sqlite").string, for: .writing)
        try database.execute(
            "CREATE TRIGGER full BEFORE INSERT ON pipelines BEGIN SELECT RAISE(ABORT, 'no room'); END")
        #expect(throws: JournalError.self) {
            try journal.write(
                [JournalSamples.job(2, state: .processed)], pipelines: [JournalSamples.pipeline("scans")])
        }
        try database.execute("DROP TRIGGER full")
        #expect(try processed(journal) == 1)
        try journal.write([JournalSamples.job(2, state: .processed)], pipelines: [])
        #expect(try processed(journal) == 2)
    }

    @Test("Figures that cannot be read begin anew, and no job is in their way")
    func unreadable() throws {
        let journal = try open()
        try journal.write([JournalSamples.job(1, state: .processed)], pipelines: [])
        journal.close()
        let database = try Connection(scratch.path("journal.sqlite").string, for: .writing)
        try database.execute("UPDATE figures SET value = 'nonsense'")
        let again = try open()
        defer { again.close() }
        #expect(try processed(again) == 0)
        try again.write([JournalSamples.job(2, state: .processed)], pipelines: [])
        #expect(try processed(again) == 1)
        #expect(try again.job(JournalSamples.id(1)) != nil)
    }

    @Test("A monitor sees fifty codes, then others")
    func codes() throws {
        let journal = try open()
        defer { journal.close() }
        try journal.write(
            (1...60).map { number in
                var job = try JournalSamples.job(number, pipeline: "p\(number % 3)", state: .failed)
                job.failure = .file("code.\(number)", "No.", remedy: "")
                return job
            }, pipelines: [])
        var again = try JournalSamples.job(61, state: .failed)
        again.failure = .file("code.7", "No.", remedy: "")
        try journal.write([again], pipelines: [])
        let failures = try journal.figures().values.flatMap(\.failures)
        #expect(Set(failures.map(\.key.code)).count == 51)
        #expect(failures.filter { $0.key.code == "other" }.reduce(0) { $0 + $1.value } == 10)
        #expect(failures.filter { $0.key.code == "code.7" }.reduce(0) { $0 + $1.value } == 2)
    }
}
