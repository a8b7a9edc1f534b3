import Dispatch
import Files
import PipelineKit
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// An end of the daemon while the disk of its archive does not answer.
@Suite(.timeLimit(.minutes(1))) struct HistoryClosingTests {
    private final class DeadArchive: HistoryArchive {
        let begun = DispatchSemaphore(value: 0), answer = DispatchSemaphore(value: 0)

        func problem(with folder: FilePath) -> String? { nil }

        func append(
            _ jobs: [JobRecord], to folder: FilePath, behind noted: ArchiveNote?,
            begin: (ArchiveNote) throws(JournalError) -> Void
        ) throws(ArchiveProblem) -> ArchiveNote {
            begun.signal()
            answer.wait()
            return ArchiveNote(folder.appending("a"), folder: 1, inode: 2, length: 3)
        }
    }

    @Test func aRunThatIsOverAtOnceKeepsItToo() async throws {
        let scratch = try ScratchFolder()
        let folder = try scratch.makeFolder("state")
        let journal = try SQLiteJournal.open(writing: folder, durable: false)
        try journal.write(try (1...30).map { try JournalSamples.job($0, state: .processed) }, pipelines: [])
        journal.close()
        let engine = try EngineHarness(scratch: scratch, stages: [.passing])
        try engine.start(once: true, history: HistoryRule(.seconds(60)))
        #expect(await eventually { engine.summary != nil })
        #expect(engine.events.contains { if case .historyEnded(30, _) = $0 { true } else { false } })
    }

    @Test func itWaitsForNoDisk() async throws {
        let scratch = try ScratchFolder()
        let journal = try SQLiteJournal.open(writing: scratch.path, durable: false)
        try journal.write(try (1...3).map { try JournalSamples.job($0, state: .processed) }, pipelines: [])
        let events = Mutex(0)
        let archive = DeadArchive()
        let observer: @Sendable (EngineEvent) -> Void = { _ in events.withLock { $0 += 1 } }
        let state = OpenedState(
            in: scratch.path, trusting: [], lock: try FolderLock(scratch.path, describedAs: "the folder"),
            store: SQLiteStore(in: scratch.path), journal: journal, lastRun: nil, boot: "", observer: observer)
        var rule = HistoryRule()
        (rule.jobs, rule.archive) = (1, "/archive")
        let keeper = HistoryKeeper(
            journal, rule, memory: .zero, seen: nil, archive: archive, observer: observer)
        let runs = Atomic(0)
        let now = { @Sendable () -> Timestamp in
            runs.add(1, ordering: .relaxed)
            return .now()
        }
        state.keepTidy(keeper, now: now, observer)
        state.keepHistory(rule)
        let isClosed = Atomic(false)
        DispatchQueue(label: "closing").async {
            archive.begun.wait()
            state.close()
            isClosed.store(true, ordering: .releasing)
        }
        #expect(await eventually { isClosed.load(ordering: .acquiring) })
        archive.answer.signal()
        // Once another run has begun that one is over: it came to nothing, and nobody is troubled with it.
        state.keepHistory(rule)
        #expect(await eventually { runs.load(ordering: .relaxed) == 2 })
        #expect(events.withLock { $0 } == 0)
        let again = try SQLiteJournal.open(writing: scratch.path, durable: false)
        defer { again.close() }
        #expect(try again.finishedCount() == 3)
    }
}
