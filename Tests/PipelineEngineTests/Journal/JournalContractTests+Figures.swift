import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal

/// What has become of jobs.
extension JournalContractTests {
    @Test("Figures count each end once, and go on where history is removed", arguments: JournalImplementation.allCases)
    func figures(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            #expect(try journal.figures().isEmpty)
            func jobs(_ pipeline: String, _ outcome: Figures.Outcome) throws -> UInt64 {
                try journal.figures()[pipeline]?.ended[outcome]?.jobs ?? 0
            }
            try journal.write((1...5).map { try JournalSamples.job($0, pipeline: "a") }, pipelines: [])
            #expect(try journal.figures().isEmpty)
            try journal.write(
                (1...5).map { try JournalSamples.job($0, pipeline: "a", state: .processed) }, pipelines: [])
            #expect(try jobs("a", .processed) == 5)
            // Written again, changed to another end, sent back to work and over again, and new as finished.
            try journal.write([JournalSamples.job(1, pipeline: "a", state: .processed)], pipelines: [])
            try journal.write([JournalSamples.job(2, pipeline: "a", state: .failed)], pipelines: [])
            #expect(try jobs("a", .processed) == 5 && jobs("a", .failed) == 0)
            try journal.write([JournalSamples.job(3, pipeline: "a", state: .running)], pipelines: [])
            try journal.write([JournalSamples.job(3, pipeline: "a", state: .failed)], pipelines: [])
            try journal.write([JournalSamples.job(7, pipeline: "b", state: .lost)], pipelines: [])
            #expect(try jobs("a", .processed) == 5 && jobs("a", .failed) == 1 && jobs("b", .lost) == 1)
            var (cancelled, released) = (
                try JournalSamples.job(8, state: .failed), try JournalSamples.job(9, state: .failed)
            )
            cancelled.failure = .calledOff(by: "anna")
            released.failure = .released(by: "anna")
            try journal.write([cancelled, released], pipelines: [])
            #expect(try jobs("scans", .cancelled) == 1 && jobs("scans", .failed) == 0)
            #expect(try journal.openFailures()["scans"] ?? 0 == 0)
            #expect(try journal.figures()["scans"]?.durations.count == 1)
            let before = try journal.figures()
            #expect(try journal.prune(finishedBefore: JournalSamples.time(99)) > 0)
            #expect(try journal.figures() == before)
        }
    }
}
