import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal

/// Open failures in groups.
extension JournalContractTests {
    private static let now = Timestamp(nanoseconds: 30 * FailureGroup.nanosecondsOfAnHour + 5)

    /// A job that failed so many hours ago, at the beginning of that hour.
    private func failed(
        _ number: Int, _ code: String, hoursAgo hours: Int64, pipeline: String = "scans"
    ) throws -> JobRecord {
        var job = try JournalSamples.job(number, pipeline: pipeline, state: .failed)
        let hour = FailureGroup.hour(of: Self.now) - hours
        job.finishedAt = Timestamp(nanoseconds: hour * FailureGroup.nanosecondsOfAnHour + Int64(number))
        job.failure = .file(code, "'\(job.drop.name.text)' is bad.", remedy: "Send '\(job.drop.name.text)' again.")
        return job
    }

    @Test(
        "Failures with the same code are a group, as long as they are open", arguments: JournalImplementation.allCases)
    func failureGroups(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            func groups(_ pipeline: String? = nil, since time: Timestamp? = nil) throws -> FailureGroups {
                try journal.failureGroups(of: pipeline, since: time, at: Self.now)
            }
            #expect(try groups() == FailureGroups(total: 0, groups: []))
            var jobs = try (1...5).map { try failed($0, "archive.damaged", hoursAgo: [25, 23, 0, 0, 1][$0 - 1]) }
            jobs.append(try failed(6, "scan.infected", hoursAgo: 2, pipeline: "press"))
            jobs.append(try failed(7, "x", hoursAgo: 0))
            jobs[6].failure = .released(by: "anna")
            try journal.write(jobs + [JournalSamples.job(8, state: .processed)], pipelines: [])
            let all = try groups()
            #expect(all.total == 6 && all.groups.map(\.code) == ["archive.damaged", "scan.infected"])
            let damaged = try #require(all.groups.first)
            #expect(damaged.jobs == 5 && damaged.bytes == 15 && damaged.pipeline == "scans")
            #expect(damaged.sentence == FailureSentence(summary: "'…' is bad.", remedy: "Send '…' again."))
            #expect(damaged.first == jobs[0].finishedAt && damaged.last == jobs[3].finishedAt)
            #expect(damaged.hours == [1] + Array(repeating: 0, count: 21) + [1, 2])
            #expect(damaged.newest.map(\.job) == [3, 2, 4].map { jobs[$0].id })
            #expect(damaged.newest[0].name == jobs[3].drop.name)
            #expect(try groups("press").groups == [all.groups[1]] && groups("none").total == 0)
            // Whole hours.
            let hourAgo = Timestamp(nanoseconds: Self.now.nanoseconds - FailureGroup.nanosecondsOfAnHour)
            let late = try groups(since: hourAgo)
            #expect(late.total == 3 && late.groups.map(\.jobs) == [3])
            #expect(late.groups.first?.first == jobs[4].finishedAt)
        }
    }

    @Test("What is sent in again, dismissed or removed leaves its group", arguments: JournalImplementation.allCases)
    func failuresThatAreDealtWith(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            func left() throws -> [JobID] {
                let found = try journal.failureGroups(of: nil, since: nil, at: Self.now)
                let newest = found.groups.flatMap(\.newest).map(\.job)
                #expect(found.total == newest.count && found.groups.allSatisfy { $0.hours.reduce(0, +) == $0.jobs })
                #expect(try journal.openFailures().values.reduce(0, +) == found.total)
                return newest
            }
            let jobs = try (1...3).map { try failed($0, "a.b", hoursAgo: 3) }
            try journal.write((1...2).map { try JournalSamples.job($0) }, pipelines: [])
            try journal.write(jobs, pipelines: [])
            // Written again it is one all the same.
            try journal.write([jobs[0], jobs[2]], pipelines: [])
            #expect(try left() == [jobs[2].id, jobs[1].id, jobs[0].id])
            var again = try JournalSamples.job(4)
            again.retryOf = jobs[1].id
            try journal.write([again], pipelines: [])
            #expect(try left() == [jobs[2].id, jobs[0].id])
            _ = try journal.setDismissed([jobs[2].id], Dismissal(by: "anna", at: Self.now))
            #expect(try left() == [jobs[0].id])
            var query = JobQuery()
            (query.isOpen, query.code) = (true, "a.b")
            #expect(try journal.jobs(query).map(\.id) == [jobs[0].id])
            #expect(try journal.prune(finishedBefore: Self.now) == 3)
            #expect(try left() == [])
        }
    }
}
