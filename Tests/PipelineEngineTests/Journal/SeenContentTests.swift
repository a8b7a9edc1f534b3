import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal

/// What journals say of content that came before.
@Suite("Content that came before") struct SeenContentTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func query(
        _ number: Int, _ content: String = "sha256:1", pipeline: String = "a", everywhere: Bool = false,
        since: Timestamp? = nil
    ) throws -> SeenQuery {
        SeenQuery(
            content, job: try JournalSamples.id(number), pipeline: pipeline, everywhere: everywhere, since: since)
    }

    @Test("The first job is named, and whether it is over", arguments: JournalImplementation.allCases)
    func first(_ implementation: JournalImplementation) throws {
        let journal = try implementation.make(in: scratch)
        defer { journal.close() }
        let now = JournalSamples.time(100)
        let first = try JournalSamples.id(1)
        #expect(try journal.first(query(1), at: now) == nil)
        #expect(try journal.first(query(1), at: now) == nil, "a job is not its own predecessor")
        #expect(try journal.first(query(2), at: now) == SeenJob(first, isOver: false), "no row yet")
        for (state, isOver) in [(JobRecord.State.running, false), (.settling, false), (.processed, true)] {
            try journal.write([JournalSamples.job(1, state: state)], pipelines: [])
            #expect(try journal.first(query(2), at: now) == SeenJob(first, isOver: isOver))
        }
        #expect(try journal.first(query(3, "sha256:2"), at: now) == nil)
        #expect(try journal.first(query(4, pipeline: "b"), at: now) == nil)
        #expect(try journal.first(query(5, pipeline: "c", everywhere: true), at: now)?.id == first)
        #expect(try journal.first(query(6, since: JournalSamples.time(101)), at: now) == nil, "too long ago")
    }

    @Test(
        "A claim that a kill left without a row is no predecessor after the next start",
        arguments: JournalImplementation.allCases)
    func orphans(_ implementation: JournalImplementation) throws {
        let journal = try implementation.make(in: scratch)
        defer { journal.close() }
        func begin(at second: Int) throws {
            _ = try journal.beginRun(RunRecord(boot: "b", process: 1, startedAt: JournalSamples.time(second)))
        }
        try begin(at: 1)
        #expect(try journal.first(query(1), at: JournalSamples.time(2)) == nil)
        #expect(try journal.first(query(2, "sha256:2"), at: JournalSamples.time(2)) == nil)
        try journal.write([JournalSamples.job(2, state: .queued)], pipelines: [])
        try begin(at: 3)
        #expect(try journal.first(query(3), at: JournalSamples.time(4)) == nil)
        #expect(try journal.first(query(4, "sha256:2"), at: JournalSamples.time(4))?.id == JournalSamples.id(2))
    }

    @Test("A job that failed is no predecessor", arguments: JournalImplementation.allCases)
    func failed(_ implementation: JournalImplementation) throws {
        let journal = try implementation.make(in: scratch)
        defer { journal.close() }
        #expect(try journal.first(query(1), at: JournalSamples.time(1)) == nil)
        try journal.write([JournalSamples.job(1, state: .failed)], pipelines: [])
        #expect(try journal.first(query(2), at: JournalSamples.time(2)) == nil)
        #expect(try journal.first(query(3), at: JournalSamples.time(3))?.id == JournalSamples.id(2))
    }
}
