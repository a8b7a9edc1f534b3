import Files
import PipelineKit
import Testing

@testable import Journal
@testable import SQLiteJournal

extension JournalContractTests {
    /// One of each kind that has an age of its own, ended a second after its number.
    private static func outcomes() throws -> [JobRecord] {
        var jobs = try (1...4).map { try JournalSamples.job($0, state: $0 == 1 ? .processed : .failed) }
        jobs[1].failure = .file("unpack.damaged", "It is damaged.", remedy: "Send it again.")
        jobs[2].failure = .calledOff(by: "ops")
        jobs[3].failure = .released(by: "ops")
        var lost = try JournalSamples.job(5, state: .lost)
        lost.finishedAt = JournalSamples.time(6)
        return jobs + [lost]
    }

    @Test("What has become of a job says how long it is kept", arguments: JournalImplementation.allCases)
    func ages(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let jobs = try Self.outcomes()
            try journal.write(jobs, pipelines: [])
            let (long, never) = (JournalSamples.time(99), JournalSamples.time(0))
            func expired(_ processed: Timestamp, _ failed: Timestamp, _ cancelled: Timestamp) throws -> [Int] {
                var limits = HistoryLimits(before: processed)
                (limits.failed, limits.cancelled) = (failed, cancelled)
                let found = try journal.expired(limits, after: nil, limit: 100).map(\.id)
                #expect(found == jobs.filter { limits.holds(for: $0) }.map(\.id))
                return try (1...5).filter { found.contains(try JournalSamples.id($0)) }
            }
            #expect(try expired(long, never, never) == [1])
            #expect(try expired(never, long, never) == [2, 5])
            #expect(try expired(never, never, long) == [3, 4])
            #expect(try expired(JournalSamples.time(2), long, JournalSamples.time(5)) == [2, 3, 5])
        }
    }

    @Test(
        "What is to go comes in the order of its end, and on from any of it", arguments: JournalImplementation.allCases)
    func order(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            var jobs = try (1...40).map { try JournalSamples.job($0, state: .processed) }
            // Many at one time, and some that end earlier than those before them.
            for index in jobs.indices { jobs[index].finishedAt = JournalSamples.time(50 + (index * 7) % 5) }
            try journal.write(jobs + [try JournalSamples.job(41)], pipelines: [])
            let all = try journal.expired(nil, after: nil, limit: 100)
            #expect(all.count == 40)
            #expect(all.map(\.at) == all.map(\.at).sorted())
            var (walked, last): ([ExpiredJob], ExpiredJob?) = ([], nil)
            repeat {
                let step = try journal.expired(nil, after: last, limit: 3)
                walked += step
                last = step.last
            } while last != nil
            #expect(walked == all)
        }
    }

    @Test("What was archived is noted with what goes", arguments: JournalImplementation.allCases)
    func archiveNotes(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            #expect(try journal.archived() == nil)
            try journal.write([try JournalSamples.job(1, state: .processed), try JournalSamples.job(2)], pipelines: [])
            let begun = ArchiveNote("/archive/a", folder: .max, inode: 3, length: 0, isOpen: true)
            try journal.note(archived: begun)
            #expect(try journal.archived() == begun)
            var written = begun
            (written.length, written.isOpen) = (4711, false)
            // One that is not over stays, whoever asks.
            let ids = [try JournalSamples.id(1), try JournalSamples.id(2)]
            #expect(try journal.remove(ids, noting: written) == 1)
            #expect(try journal.archived() == written)
            #expect(try journal.finishedCount() == 0)
            #expect(try journal.unfinished().count == 1)
        }
    }
}
