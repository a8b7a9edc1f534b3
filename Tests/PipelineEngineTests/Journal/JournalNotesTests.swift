import Files
import PipelineKit
import TestSupport
import Testing

@testable import Journal

/// How every journal knows files again that are sent in once more.
@Suite("Notes of files that come again") struct JournalNotesTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func with(_ implementation: JournalImplementation, _ body: (any Journal) throws -> Void) throws {
        let journal = try implementation.make(in: scratch)
        defer { journal.close() }
        try body(journal)
    }

    @Test("A note of a file that does not come is taken back", arguments: JournalImplementation.allCases)
    func forgottenRetries(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let failed = try JournalSamples.job(1, state: .failed)
            let (again, other) = (try JournalSamples.job(2), try JournalSamples.job(3))
            try journal.write([failed], pipelines: [])
            try journal.noteRetry(of: failed.id, as: JournalSamples.file(of: again))
            try journal.noteRetry(of: failed.id, as: JournalSamples.file(of: other))
            try journal.forgetRetry(of: failed.id, as: again.identity)
            // Another job's note of the same file stays.
            try journal.forgetRetry(of: again.id, as: other.identity)
            try journal.write([again, other], pipelines: [])
            #expect(try journal.job(again.id)?.retryOf == nil)
            #expect(try journal.job(other.id)?.retryOf == failed.id)
        }
    }

    @Test("A file that was sent in again knows which job it was", arguments: JournalImplementation.allCases)
    func retries(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let failed = try JournalSamples.job(1, state: .failed)
            try journal.write([failed], pipelines: [])
            let again = try JournalSamples.job(2)
            try journal.noteRetry(of: JournalSamples.id(9), as: JournalSamples.file(of: again))
            try journal.noteRetry(of: failed.id, as: JournalSamples.file(of: again))
            // An unrelated job, and one that was there before, are not taken for it.
            try journal.write([JournalSamples.job(3), failed], pipelines: [])
            #expect(try journal.job(failed.id)?.retryOf == nil)
            try journal.write([again], pipelines: [])
            #expect(try journal.job(again.id)?.retryOf == failed.id)
            // Its later records do not know of it, and it stays.
            try journal.write([JournalSamples.job(2, state: .processed)], pipelines: [])
            #expect(try journal.job(again.id)?.retryOf == failed.id)
            // The inode serves once.
            var later = try JournalSamples.job(4)
            later.identity = again.identity
            try journal.write([later], pipelines: [])
            #expect(try journal.job(later.id)?.retryOf == nil)
        }
    }

    @Test("A copy of a processed original knows which job that was of", arguments: JournalImplementation.allCases)
    func replays(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let first = try JournalSamples.job(1, state: .processed)
            let (again, other) = (try JournalSamples.job(2), try JournalSamples.job(3))
            try journal.write([first], pipelines: [])
            for job in [again, other] { try journal.noteReplay(of: first.id, as: JournalSamples.file(of: job)) }
            #expect(Set(try journal.sentIn().map(\.identity)) == [again.identity, other.identity])
            try journal.forgetRetry(of: first.id, as: other.identity)
            try journal.write([again, other], pipelines: [])
            #expect(try journal.job(again.id)?.replayOf == first.id)
            #expect(try journal.job(again.id)?.retryOf == nil)
            #expect(try journal.job(other.id)?.replayOf == nil)
            #expect(try journal.sentIn().isEmpty, "it serves once")
            try journal.write([JournalSamples.job(2, state: .processed)], pipelines: [])
            #expect(try journal.job(again.id)?.replayOf == first.id, "it keeps it")
            var query = JobQuery()
            query.replayOf = first.id
            #expect(try journal.jobs(query).map(\.id) == [again.id])
            #expect(try journal.counts().reduce(0) { $0 + $1.count } == 3, "the first one counts, too")
        }
    }

    @Test(
        "A file that was sent in again is known after a mount, but not as that of another pipeline",
        arguments: JournalImplementation.allCases)
    func retriesOverMounts(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let failed = try JournalSamples.job(1, state: .failed)
            try journal.write([failed], pipelines: [])
            var (again, others) = (try JournalSamples.job(2), try JournalSamples.job(3))
            try journal.noteRetry(of: failed.id, as: JournalSamples.file(of: again))
            again.identity.device += 1
            others.identity = again.identity
            others.pipeline = "others"
            try journal.write([others], pipelines: [])
            try journal.write([again], pipelines: [])
            #expect(try journal.job(others.id)?.retryOf == nil)
            #expect(try journal.job(again.id)?.retryOf == failed.id)
        }
    }

    @Test(
        "A file that was sent in again is known by its size and time, too, and under its pipeline's new name",
        arguments: JournalImplementation.allCases)
    func retriesThatAreNone(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let failed = try JournalSamples.job(1, state: .failed)
            try journal.write([failed], pipelines: [JournalSamples.pipeline("later")])
            var (longer, newer, again) = (
                try JournalSamples.job(2), try JournalSamples.job(3), try JournalSamples.job(2, pipeline: "later")
            )
            longer.id = try JournalSamples.id(4)
            longer.drop = Drop(name: longer.drop.name, size: 7, droppedAt: longer.drop.droppedAt)
            newer.identity = again.identity
            newer.drop = again.drop
            (longer.modified, again.modified) = (FileTime(seconds: 1), FileTime(seconds: 1, nanoseconds: 5))
            newer.modified = FileTime(seconds: 2)
            try journal.noteRetry(of: failed.id, as: JournalSamples.file(of: again))
            for job in [longer, newer, again] {
                try journal.write([job], pipelines: [])
                #expect(try journal.job(job.id)?.retryOf == (job.id == again.id ? failed.id : nil))
            }
        }
    }

    @Test("A note of a file that never came is not kept for ever", arguments: JournalImplementation.allCases)
    func oldNotes(_ implementation: JournalImplementation) throws {
        try with(implementation) { journal in
            let failed = try JournalSamples.job(1)
            try journal.write([failed], pipelines: [])
            try journal.noteReplay(of: failed.id, as: JournalSamples.file(of: failed))
            _ = try journal.prune(finishedBefore: JournalSamples.time(9))
            #expect(try journal.sentIn().count == 1)
            _ = try journal.prune(finishedBefore: Timestamp(nanoseconds: Timestamp.now().nanoseconds + 1_000_000_000))
            #expect(try journal.sentIn().isEmpty)
        }
    }
}
