import Files
import Glibc
import PipelineKit
import SQLite
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import PipelineEngine
@testable import SQLiteJournal

/// A journal whose file others take away, or replace, while it is open.
@Suite("A journal that is not in its place") struct JournalMendingTests {
    private let scratch: ScratchFolder
    private let journal: SQLiteJournal
    private let run = RunRecord(boot: "b", process: 7, startedAt: Timestamp(seconds: 1_772_366_400, nanoseconds: 5))

    init() throws {
        scratch = try ScratchFolder()
        journal = try SQLiteJournal.open(writing: scratch.path, durable: false)
        _ = try journal.beginRun(run)
        for number in 1...20 { try journal.write([try JournalSamples.fullJob(number)], pipelines: []) }
    }

    private func seenByOthers() throws -> [JobID] {
        let other = try SQLiteJournal.open(reading: scratch.path)
        defer { other.close() }
        return try other.jobs(JobQuery()).map(\.id)
    }

    @Test("One that is in its place is left alone, whatever is written and read")
    func well() throws {
        #expect(try journal.mend(run) == nil)
        _ = try seenByOthers()
        try journal.write([try JournalSamples.fullJob(30)], pipelines: [])
        let retry = try SQLiteJournal.open(writing: scratch.path, durable: true, checking: false)
        retry.close()
        #expect(try journal.mend(run) == nil)
        #expect(try scratch.tree().filter { $0.contains("replaced") } == [])
    }

    @Test(
        "What was removed is put back with all that was in it",
        arguments: [["", "-wal", "-shm"], [""], ["-wal"], ["", "-wal"]])
    func removed(suffixes: [String]) throws {
        let before = try journal.jobs(JobQuery()).map(\.id)
        for suffix in suffixes { #expect(unlink(scratch.path("journal.sqlite\(suffix)").string) == 0) }
        // As a daemon that does not know it yet.
        try journal.write([try JournalSamples.fullJob(21)], pipelines: [])
        try journal.makeDurable()
        let mending = try #require(try journal.mend(run))
        #expect(mending.keepsHistory)
        #expect((mending.aside == nil) == (suffixes.count == 3))
        #expect(try Set(seenByOthers()) == Set(before + [JournalSamples.fullJob(21).id]))
        let sync = try journal.writer?.withWriter { try $0.first("PRAGMA synchronous") }
        #expect(sync == [.integer(2)], "as durable as it was made")
        // From here on it is as any other.
        try journal.write([try JournalSamples.fullJob(22)], pipelines: [])
        #expect(try seenByOthers().count == 22)
        #expect(try journal.mend(run) == nil)
        #expect(try scratch.tree().filter { $0.contains("mending") } == [])
        var status = stat()
        #expect(stat(scratch.path("journal.sqlite").string, &status) == 0 && status.st_mode & 0o077 == 0)
    }

    @Test(
        "Where there is no room for a copy, nothing is begun without what is known",
        .enabled(if: TemporaryMount.isPossible, "needs root to mount"))
    func noRoom() throws {
        let mount = try TemporaryMount(tmpfs: "size=4m,mode=700", at: scratch.path("small"))
        let journal = try SQLiteJournal.open(writing: mount.path, durable: false)
        defer { journal.close() }
        _ = try journal.beginRun(run)
        for number in 1...20 { try journal.write([try JournalSamples.fullJob(number)], pipelines: []) }
        for suffix in ["", "-wal", "-shm"] {
            #expect(unlink(mount.path.appending("journal.sqlite\(suffix)").string) == 0)
        }
        let ballast = mount.path.appending("ballast")
        let file = try OpenFile.open(ballast, O_WRONLY | O_CREAT, mode: 0o600)
        let block = [UInt8](repeating: 1, count: 4096)
        while write(file.descriptor, block, block.count) > 0 {}
        try file.close()
        let error = #expect(throws: JournalError.self) { try journal.mend(run) }
        #expect(error?.kind == .environment, "\(String(describing: error))")
        try Folder.remove(ballast)
        #expect(try journal.mend(run)?.keepsHistory == true)
        #expect(try journal.jobs(JobQuery()).count == 20)
    }

    @Test("Another journal in its place is kept beside it")
    func replaced() throws {
        let backup = try scratch.makeFolder("backup")
        let old = try SQLiteJournal.open(writing: backup, durable: false)
        try old.write([try JournalSamples.fullJob(99)], pipelines: [])
        old.close()
        #expect(rename(backup.appending("journal.sqlite").string, scratch.path("journal.sqlite").string) == 0)
        let mending = try #require(try journal.mend(run))
        #expect(mending.keepsHistory)
        #expect(try seenByOthers().count == 20)
        let aside = try #require(mending.aside)
        #expect(Folder.kind(of: aside) == .regular)
        #expect(try journal.mend(run) == nil)
    }

    @Test("Written over it is begun anew, with the run, and what lies there is kept")
    func overwritten() throws {
        // As after a checkpoint, and with nothing of it in memory.
        try journal.writer?.withWriter { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        try journal.writer?.withWriter { try $0.execute("PRAGMA shrink_memory") }
        let file = try OpenFile.open(scratch.path("journal.sqlite"), O_WRONLY)
        try file.write([UInt8](repeating: 0xA5, count: 200_000))
        let mending = try #require(try journal.mend(run))
        #expect(!mending.keepsHistory)
        #expect(mending.aside != nil)
        let other = try SQLiteJournal.open(reading: scratch.path)
        #expect(try other.lastRun() == run)
        other.close()
        try journal.write([try JournalSamples.fullJob(1)], pipelines: [])
        #expect(try seenByOthers().count == 1)
    }

    @Test("What was put back and cannot be opened is replaced by the next attempt, not kept beside it each time")
    func unopened() throws {
        let before = try journal.jobs(JobQuery()).map(\.id)
        #expect(unlink(scratch.path("journal.sqlite").string) == 0)
        let blocker = try scratch.makeFolder("journal.sqlite-journal")
        for _ in 1...3 { #expect(throws: JournalError.self) { try journal.mend(run) } }
        let kept = { try scratch.tree().filter { $0.contains("replaced") && !$0.contains("-shm") } }
        #expect(try kept().count == 1, "the log of the one that was removed")
        #expect(rmdir(blocker.string) == 0)
        let mending = try #require(try journal.mend(run))
        #expect(mending.keepsHistory && mending.aside == nil)
        #expect(try seenByOthers() == before)
        #expect(try kept().count == 1)
        #expect(try journal.mend(run) == nil)
    }

    @Test("Another state folder in the place of this one is looked at as at a start; looks in vain get rare")
    func folder() throws {
        let folder = try scratch.makeFolder("state")
        let journal = try SQLiteJournal.open(writing: folder, durable: false)
        _ = try journal.beginRun(run)
        let state = OpenedState(
            in: folder, trusting: [], lock: try FolderLock(folder, describedAs: "the state folder"),
            store: SQLiteStore(in: folder), journal: journal, lastRun: nil, boot: "b", observer: { _ in })
        defer { state.close() }
        let warnings = Mutex<[String]>([])
        func look() {
            state.checkPlace(run, { if case .trouble(let text) = $0 { warnings.withLock { $0.append(text) } } }, {})
        }
        try NoReplace.rename(folder, to: scratch.path("away"))
        try Folder.make(folder)
        #expect(chmod(folder.string, 0o777) == 0)
        look()
        #expect(warnings.withLock { $0.count } == 1)
        #expect(warnings.withLock { $0.first?.contains("restoring it failed: the state folder") } == true)
        #expect(chmod(folder.string, 0o755) == 0)
        look()
        #expect(try scratch.tree("state") == [], "one look is left out")
        look()
        #expect(warnings.withLock { $0.last?.contains("with its full history") } == true)
        var status = stat()
        #expect(stat(folder.string, &status) == 0 && status.st_mode & 0o077 == 0)
    }
}
