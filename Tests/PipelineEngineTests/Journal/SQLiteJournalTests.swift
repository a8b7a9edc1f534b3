import PipelineEngine
import PipelineKit
import SystemPackage
import TestSupport
import Testing

/// What is SQLite's own about `SQLiteJournal`; what every journal must do is in `JournalContractTests`.
@Suite("SQLite journal")
struct SQLiteJournalTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    @Test("What is written is there after closing and opening again")
    func survivesClosing() throws {
        let record = try JournalSamples.fullJob(2)
        let first = try SQLiteJournal.open(writing: scratch.path, durable: true)
        try first.write([record], pipelines: [])
        first.close()
        let second = try SQLiteJournal.open(writing: scratch.path, durable: true)
        defer { second.close() }
        #expect(try second.job(record.id) == record)
    }
}
