import PipelineKit
import Testing

@testable import Journal

/// The words that people have for how jobs stand.
@Suite struct JobWordsTests {
    /// A job of each word, and one that was released.
    private static func jobs() throws -> [JobRecord] {
        var jobs = try JobRecord.State.allCases.enumerated().map { number, state in
            try JournalSamples.job(number + 1, state: state)
        }
        for failure in [Failure.calledOff(by: "anna"), .released(by: "anna")] {
            var job = try JournalSamples.job(jobs.count + 1, state: .failed)
            job.failure = failure
            jobs.append(job)
        }
        return jobs
    }

    @Test("A job that was cancelled is not called failed")
    func words() throws {
        let words = try Self.jobs().map(\.word)
        #expect(
            words == [
                "queued", "running", "deferred", "settling", "processed", "failed", "lost", "cancelled", "failed",
            ])
        #expect(Set(words) == Set(JobQuery.words) && JobQuery.words.count == 8)
    }

    @Test(
        "Any choice of words finds the jobs of these words, also in a database",
        arguments: JournalImplementation.allCases)
    func choices(_ implementation: JournalImplementation) throws {
        let jobs = try Self.jobs()
        try JournalContractTests().with(implementation) { journal in
            try journal.write(jobs, pipelines: [])
            for choice in 1..<(1 << JobQuery.words.count) {
                let words = JobQuery.words.enumerated().filter { choice >> $0.offset & 1 == 1 }.map(\.element)
                var query = JobQuery()
                #expect(query.choose(words) == nil && query.words == words)
                let expected = Set(jobs.filter { words.contains($0.word) }.map(\.id))
                #expect(Set(try journal.jobs(query).map(\.id)) == expected, "\(words)")
                #expect(Set(jobs.filter(query.matches).map(\.id)) == expected, "\(words)")
                for code in [Failure.cancelCode, Failure.releaseCode] {
                    query.code = code
                    let expected = Set(jobs.filter { words.contains($0.word) && $0.failure?.code == code }.map(\.id))
                    #expect(Set(try journal.jobs(query).map(\.id)) == expected, "\(words) \(code)")
                    #expect(Set(jobs.filter(query.matches).map(\.id)) == expected, "\(words) \(code)")
                }
            }
        }
    }

    @Test("What is no word chooses nothing")
    func strange() {
        var query = JobQuery()
        #expect(query.choose(["failed", "done", "gone"]) == "done" && query == JobQuery())
    }
}
