import PipelineKit
import TestSupport
import Testing

@testable import Journal

/// How many jobs there are.
extension JournalContractTests {
    @Test("Counts follow every change", arguments: JournalImplementation.allCases)
    func counts(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            func count(_ pipeline: String, _ state: JobRecord.State, _ stage: Int, _ count: Int) -> JobCount {
                JobCount(pipeline: pipeline, state: state, stage: stage, count: count)
            }
            #expect(try journal.counts().isEmpty)
            let jobs = try (1...6).map { try JournalSamples.job($0, pipeline: $0 == 6 ? "b" : "a", stage: $0 % 2) }
            try journal.write(jobs, pipelines: [])
            #expect(
                try Set(journal.counts()) == [
                    count("a", .queued, 0, 2), count("a", .queued, 1, 3), count("b", .queued, 0, 1),
                ])
            try journal.write(
                try (1...5).map { try JournalSamples.job($0, pipeline: "a", state: .processed, stage: 2) },
                pipelines: [])
            // Written again, changed to another end, sent back to work, and new as finished.
            try journal.write([JournalSamples.job(1, pipeline: "a", state: .processed, stage: 2)], pipelines: [])
            try journal.write([JournalSamples.job(2, pipeline: "a", state: .failed)], pipelines: [])
            try journal.write([JournalSamples.job(3, pipeline: "a", state: .running, stage: 1)], pipelines: [])
            try journal.write([JournalSamples.job(7, pipeline: "b", state: .lost)], pipelines: [])
            #expect(
                try Set(journal.counts()) == [
                    count("a", .processed, 0, 3), count("a", .failed, 0, 1), count("a", .running, 1, 1),
                    count("b", .queued, 0, 1), count("b", .lost, 0, 1),
                ])
            #expect(try journal.openFailures() == ["a": 1])
            #expect(try journal.prune(finishedBefore: JournalSamples.time(5)) == 2)
            #expect(try journal.counts().filter { $0.state.isFinal }.map(\.count).reduce(0, +) == 3)
        }
    }

    @Test("A job that passes to another pipeline is counted there", arguments: JournalImplementation.allCases)
    func countsOfAnotherPipeline(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            try journal.write([JournalSamples.job(1, pipeline: "first")], pipelines: [])
            try journal.write([JournalSamples.job(1, pipeline: "second", state: .processed)], pipelines: [])
            let count = JobCount(pipeline: "second", state: .processed, stage: 0, count: 1)
            #expect(try journal.counts() == [count])
            #expect(try journal.prune(finishedBefore: JournalSamples.time(9)) == 1)
            #expect(try journal.counts().isEmpty)
        }
    }

    @Test("A job that was released has not failed", arguments: JournalImplementation.allCases)
    func countsOfReleased(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            func failed() throws -> Int {
                let count = try journal.counts().filter { $0.state == .failed }.map(\.count).reduce(0, +)
                #expect(try journal.openFailures().values.reduce(0, +) == count)
                return count
            }
            var released = try JournalSamples.job(1, state: .failed)
            released.failure = .released(by: "anna")
            // The second was known before, the third is written again, the fourth has no reason.
            var others = try (2...4).map { try JournalSamples.job($0) }
            try journal.write(others, pipelines: [])
            for place in others.indices {
                (others[place].state, others[place].finishedAt) = (.failed, JournalSamples.time(place + 2))
            }
            others[0].failure = released.failure
            others[1].failure = .file("test", "It is damaged.")
            others[2].failure = nil
            try journal.write([released] + others, pipelines: [])
            try journal.write([released] + others, pipelines: [])
            #expect(try failed() == 2)
            var query = JobQuery()
            query.otherThan = Failure.releaseCode
            #expect(try Set(journal.jobs(query).map(\.id)) == Set(others[1...].map(\.id)))
            #expect(try journal.prune(finishedBefore: JournalSamples.time(9)) == 4)
            #expect(try failed() == 0)
        }
    }

    @Test(
        "A failure that was dismissed counts no more, whatever becomes of it", arguments: JournalImplementation.allCases
    )
    func countsOfDismissed(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            func open() throws -> Set<JobID> {
                let count = try journal.counts().filter { $0.state == .failed }.map(\.count).reduce(0, +)
                #expect(try journal.openFailures().values.reduce(0, +) == count)
                var query = JobQuery()
                query.isOpen = true
                let open = try journal.jobs(query).map(\.id)
                #expect(open.count == count)
                return Set(open)
            }
            var jobs = try (1...5).map { try JournalSamples.job($0, state: .failed) }
            jobs[3].state = .processed
            jobs[4].retryOf = jobs[2].id
            try journal.write(jobs, pipelines: [])
            let ids = jobs.map(\.id)
            let dismissal = Dismissal(by: "anna", at: JournalSamples.time(20))
            #expect(try journal.setDismissed([ids[0], ids[2], ids[3], JournalSamples.id(9)], dismissal) == [ids[0]])
            #expect(try open() == [ids[1], ids[4]])
            #expect(try journal.job(ids[0])?.dismissed == dismissal && journal.job(ids[2])?.dismissed == nil)
            #expect(try journal.setDismissed([ids[0]], Dismissal(by: "bob", at: JournalSamples.time(21))).isEmpty)
            // Written again it stays so.
            try journal.write([jobs[0]], pipelines: [])
            #expect(try journal.job(ids[0])?.dismissed == dismissal)
            #expect(try open() == [ids[1], ids[4]])
            // Sent in again it is a retry like any other.
            var again = try JournalSamples.job(6, state: .failed)
            again.retryOf = ids[0]
            try journal.write([again], pipelines: [])
            #expect(try open() == [ids[1], ids[4], again.id])
            // At work again, and failed once more.
            jobs[0].state = .running
            try journal.write([jobs[0]], pipelines: [])
            #expect(try journal.job(ids[0])?.dismissed == nil)
            #expect(try journal.dismiss([ids[1]], dismissal) == [.dismissed])
            #expect(try journal.prune(finishedBefore: JournalSamples.time(99)) == 5)
            #expect(try open().isEmpty)
        }
    }

    @Test("What is dismissed, and why the rest is not, is said", arguments: JournalImplementation.allCases)
    func dismissing(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            var jobs = try (1...6).map { try JournalSamples.job($0, state: .failed) }
            jobs[1].state = .running
            jobs[2].state = .processed
            jobs[3].failure = .released(by: "anna")
            jobs[5].retryOf = jobs[4].id
            try journal.write(jobs, pipelines: [])
            let ids = try jobs.map(\.id) + [JournalSamples.id(9)]
            let dismissal = Dismissal(by: "anna", at: JournalSamples.time(20))
            let outcomes = try journal.dismiss(ids, dismissal)
            #expect(
                outcomes == [
                    .dismissed, .refused("it is not over; 'dropmill cancel \(ids[1])' ends it"),
                    .refused("it has not failed: it is processed"), .refused("it was released, which is no failure"),
                    .refused("it was already retried, as \(ids[5]), which is failed"), .dismissed,
                    .refused("no such job is on record"),
                ])
            let again = try journal.dismiss([ids[0]], Dismissal(by: "bob", at: JournalSamples.time(21)))
            #expect(again == [.already(dismissal)] && again[0].isDismissed)
            #expect(again[0].text == "was dismissed already, by anna on \(dismissal.at.iso8601)")
        }
    }

    @Test("A failure that was sent in again counts as what it became", arguments: JournalImplementation.allCases)
    func countsOfRetries(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            func failed() throws -> Int {
                let count = try journal.counts().filter { $0.state == .failed }.map(\.count).reduce(0, +)
                #expect(try journal.openFailures().values.reduce(0, +) == count)
                return count
            }
            let first = try JournalSamples.job(1, state: .failed)
            try journal.write([first, JournalSamples.job(9, state: .failed)], pipelines: [])
            #expect(try failed() == 2)
            var second = try JournalSamples.job(2, state: .failed)
            second.retryOf = first.id
            try journal.write([second], pipelines: [])
            #expect(try failed() == 2)
            var third = try JournalSamples.job(3, state: .processed)
            third.retryOf = second.id
            try journal.write([third], pipelines: [])
            #expect(try failed() == 1)
            #expect(try journal.counts().filter { $0.state == .processed }.map(\.count) == [1])
        }
    }
}
