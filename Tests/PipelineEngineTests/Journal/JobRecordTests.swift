import PipelineKit
import Testing

@testable import Journal

@Suite("What a record says of a job's progress") struct JobRecordTests {
    @Test("A deferred job keeps the time of its next attempt until it is over")
    func nextAttempt() throws {
        var record = try JournalSamples.job(1)
        let failure = Failure(.transient, code: "test", summary: "Later.")
        record.nextAttempt = JournalSamples.time(900)
        record.note(.deferred(stage: 0, failures: 1, failure), stages: 1)
        #expect(record.nextAttempt == JournalSamples.time(900))
        record.note(.queued(stage: 0, failures: 1), stages: 1)
        #expect(record.nextAttempt == nil)
    }
}
