import Dispatch
import Files
import Glibc
import SQLite
import Synchronization
import SystemPackage
import TestSupport
import Testing

@testable import Journal
@testable import SQLiteJournal

/// What is SQLite's own about `SQLiteJournal`; what every journal must do is in `JournalContractTests`.
@Suite("SQLite journal")
struct SQLiteJournalTests {
    private let scratch: ScratchFolder

    init() throws { scratch = try ScratchFolder() }

    private func open(durable: Bool = false) throws -> SQLiteJournal {
        try SQLiteJournal.open(writing: scratch.path, durable: durable)
    }

    /// The database as a program of somebody else's sees it.
    private func database() throws -> Connection {
        try Connection(scratch.path("journal.sqlite").string, for: .writing)
    }

    private func kind(_ body: () throws -> Void) -> JournalError.Kind? {
        do {
            try body()
            return nil
        } catch {
            return (error as? JournalError)?.kind
        }
    }

    @Test("What is written is there after closing and opening again")
    func survivesClosing() throws {
        let record = try JournalSamples.fullJob(2)
        let first = try open(durable: true)
        try first.write([record], pipelines: [])
        first.close()
        let second = try open(durable: true)
        defer { second.close() }
        #expect(try second.job(record.id) == record)
    }

    @Test(
        "What people ask for is found by an index",
        arguments: [
            "name = x'61'", "id >= 'A' AND id < 'A~'", "retry_of = 'A'",
        ])
    func indexes(condition: String) throws {
        let journal = try open()
        defer { journal.close() }
        let plan = try database().all(
            """
            EXPLAIN QUERY PLAN SELECT * FROM jobs WHERE \(condition)
            ORDER BY claimed_at DESC, rowid DESC LIMIT 4
            """
        ).compactMap(\.last?.text)
        #expect(plan.contains { $0.hasPrefix("SEARCH jobs") })
        #expect(!plan.contains { $0.hasPrefix("SCAN") })
    }

    @Test("The view 'history' has a row for each transition")
    func historyView() throws {
        let journal = try open()
        defer { journal.close() }
        try journal.write([JournalSamples.fullJob(2), JournalSamples.job(3)], pipelines: [])
        let rows = try database().all(
            "SELECT number, event, stage, time, took, note FROM history ORDER BY job, number")
        #expect(rows.count == 3)
        #expect(
            rows[1] == [
                .integer(2), .text("done"), .text("unpack"), .text("1970-01-01T00:00:02.123Z"),
                .integer(1_234_567_890), .text("12 files ü"),
            ])
    }

    @Test("Only the last 100 runs are kept")
    func keepsRuns() throws {
        let journal = try open()
        defer { journal.close() }
        for number in 1...103 {
            _ = try journal.beginRun(RunRecord(boot: "b", process: number, startedAt: JournalSamples.time(number)))
        }
        let processes = try database().all("SELECT process FROM runs ORDER BY number").compactMap(\.first?.integer)
        #expect(processes == Array(4...103))
    }

    @Test("Two read while one writes, and each sees whole transactions", arguments: [false, true])
    func readsWhileWriting(_ isOtherConnection: Bool) throws {
        let journal = try open()
        defer { journal.close() }
        let readers = try (1...2).map { _ in
            isOtherConnection ? try SQLiteJournal.open(reading: scratch.path) : journal
        }
        defer { if isOtherConnection { for reader in readers { reader.close() } } }
        let shared = Shared()
        let reading = DispatchGroup()
        for reader in readers {
            DispatchQueue(label: "reader").async(group: reading) { @Sendable in
                do {
                    repeat {
                        let stages = Set(try reader.unfinished().map(\.stage))
                        if stages.count > 1 { shared.messages.withLock { $0.append("\(stages)") } }
                    } while !shared.isDone.load(ordering: .acquiring)
                } catch {
                    shared.messages.withLock { $0.append("\(error)") }
                }
            }
        }
        // In each transaction all of ten jobs go on to the same stage.
        do {
            defer {
                shared.isDone.store(true, ordering: .releasing)
                reading.wait()
            }
            for stage in 0..<200 {
                try journal.write(try (1...10).map { try JournalSamples.job($0, stage: stage) }, pipelines: [])
            }
        }
        #expect(shared.messages.withLock { $0 } == [])
        #expect(try readers[0].unfinished().map(\.stage) == Array(repeating: 199, count: 10))
    }

    @Test("Where there is no journal, reading says so")
    func missing() throws {
        #expect(kind { _ = try SQLiteJournal.open(reading: scratch.path) } == .missing)
        #expect(!scratch.exists("journal.sqlite"))
    }

    @Test("A journal that was opened for reading takes nothing")
    func readOnly() throws {
        try open().close()
        let reader = try SQLiteJournal.open(reading: scratch.path)
        defer { reader.close() }
        #expect(throws: JournalError.self) { try reader.write([JournalSamples.job(1)], pipelines: []) }
        #expect(try reader.jobs(JobQuery()).isEmpty)
    }

    @Test(
        "Another user with the right to read reads, whether log and shared memory are there or not",
        .enabled(if: geteuid() == 0, "needs root, to become another user"),
        arguments: ["written to", "at rest", "without log", "killed"])
    func otherUser(_ situation: String) async throws {
        let journal = try open()
        try journal.write([JournalSamples.job(1)], pipelines: [])
        if situation == "at rest" || situation == "without log" { journal.close() }
        if situation == "without log" {
            for name in ["journal.sqlite-wal", "journal.sqlite-shm"] { unlink(scratch.path(name).string) }
        }
        let folder: FilePath
        if situation == "killed" {
            // What a killed writer leaves: a log that nobody has taken over yet, and nobody's locks.
            folder = try scratch.makeFolder("copy")
            for name in ["journal.sqlite", "journal.sqlite-wal", "journal.sqlite-shm"] {
                try scratch.write(scratch.read(name), to: folder.appending(name))
            }
        } else {
            folder = scratch.path
        }
        // Closed to others as they are made, these are opened by somebody who wants that.
        chmod(scratch.path.string, 0o755)
        for name in ["", "-wal", "-shm"] { chmod(folder.appending("journal.sqlite" + name).string, 0o644) }
        await #expect(processExitsWith: .success) { [path = folder.string as String] in
            guard setgid(65534) == 0, setuid(65534) == 0 else { exit(2) }
            let reader = try SQLiteJournal.open(reading: FilePath(path))
            let ids = try reader.jobs(JobQuery()).map(\.id)
            guard ids == [try JournalSamples.id(1)] else { exit(3) }
        }
        journal.close()
    }

    @Test("What is no database, or a damaged one, is told, and set aside with nothing overwritten")
    func corrupt() throws {
        try scratch.write(String(repeating: "no database ", count: 1000), to: "journal.sqlite")
        #expect(kind { _ = try open() } == .corrupt)
        #expect(kind { _ = try SQLiteJournal.open(reading: scratch.path) } == .corrupt)
        let time = Timestamp(seconds: 1_700_000_000, nanoseconds: 0)
        let first = try SQLiteJournal.setAside(in: scratch.path, at: time)
        #expect(first == scratch.path("journal.corrupt-20231114T221320Z"))
        // The next one is damaged within, and was not ended in order.
        let journal = try open()
        _ = try journal.beginRun(RunRecord(boot: "b", process: 1, startedAt: time))
        try journal.write((1...200).map { try JournalSamples.job($0) }, pipelines: [])
        journal.close()
        var bytes = try scratch.read("journal.sqlite")
        for index in stride(from: 8192, to: bytes.count, by: 512) { bytes[index] ^= 0x55 }
        try scratch.write(bytes, to: scratch.path("journal.sqlite"))
        #expect(kind { _ = try open() } == .corrupt)
        let second = try SQLiteJournal.setAside(in: scratch.path, at: time)
        #expect(second == scratch.path("journal.corrupt-20231114T221320Z.2"))
        #expect(try ScratchFolder.read(second) == bytes)
        #expect(try ScratchFolder.read(first).starts(with: Array("no database".utf8)))
        let fresh = try open()
        defer { fresh.close() }
        #expect(try fresh.jobs(JobQuery()).isEmpty)
    }

    @Test(
        "Damage of any page is seen, though the last run ended in order",
        arguments: ["jobs", "jobs_unfinished", "sqlite_autoindex_jobs_1", "runs"])
    func damagedPage(_ name: String) throws {
        let journal = try open()
        _ = try journal.beginRun(RunRecord(boot: "b", process: 1, startedAt: JournalSamples.time(1)))
        try journal.write((1...20).map { try JournalSamples.job($0) }, pipelines: [])
        try journal.endRun()
        journal.close()
        try DamagedJournal.overwrite(rootOf: name, in: scratch.path)
        #expect(kind { _ = try open() } == .corrupt)
    }

    @Test("What a run has found damaged is damaged for the next opening, until it is set aside")
    func markedAsDamaged() throws {
        try open().close()
        try SQLiteJournal.markDamaged(in: scratch.path)
        #expect(kind { _ = try open() } == .corrupt)
        _ = try SQLiteJournal.setAside(in: scratch.path, at: JournalSamples.time(1))
        try open().close()
    }

    @Test("A journal with nothing in it yet is told as that")
    func empty() throws {
        try scratch.write("", to: "journal.sqlite")
        let error = #expect(throws: JournalError.self) { _ = try SQLiteJournal.open(reading: scratch.path) }
        #expect(error?.kind == .missing)
        #expect(error?.message.hasSuffix("is empty; 'dropmill run' starts it.") == true)
    }

    @Test(
        "A row that makes no sense is damage, not a trap",
        arguments: [
            "state = 'dancing'", "id = 'x'", "payload = '{\"root\":'", "payload = '[]'", "intents = '[{}]'",
            "size = 'big'",
            "name = x'2f'", "history = '[{\"event\":1}]'", "definition = x'00'", "digests = '[1]'",
        ])
    func nonsense(_ damage: String) throws {
        let journal = try open()
        defer { journal.close() }
        try journal.write([JournalSamples.job(1)], pipelines: [])
        try database().execute("UPDATE jobs SET \(damage)")
        #expect(kind { _ = try journal.jobs(JobQuery()) } == .corrupt)
    }

    @Test(
        "A full disk is trouble with the surroundings, and passes",
        .enabled(if: TemporaryMount.isPossible, "needs root"))
    func fullDisk() throws {
        let mount = try TemporaryMount(tmpfs: "size=1m", at: scratch.path("small"))
        let journal = try SQLiteJournal.open(writing: mount.path, durable: true)
        defer { journal.close() }
        let ballast = mount.path.appending("ballast")
        try scratch.write([UInt8](repeating: 1, count: 500_000), to: ballast)
        var failure: JournalError?
        var written = 0
        while failure == nil, written < 100_000 {
            let jobs = try (1...100).map { try JournalSamples.fullJob(written + $0) }
            do throws(JournalError) {
                try journal.write(jobs, pipelines: [])
                written += 100
            } catch {
                failure = error
            }
        }
        #expect(failure?.kind == .environment)
        #expect(failure?.message.contains("Free space") == true)
        #expect(try journal.jobs(JobQuery()).count == written)
        unlink(ballast.string)
        try journal.write([JournalSamples.job(99_999)], pipelines: [])
    }

    @Test("Killed in the midst of writing, it keeps every row that was acknowledged", arguments: 1...3)
    func killed(_ round: Int) async throws {
        await #expect(processExitsWith: .signal(SIGKILL)) { [path = scratch.path.string as String, round] in
            let folder = FilePath(path)
            let journal = try SQLiteJournal.open(writing: folder, durable: true)
            _ = try journal.beginRun(RunRecord(boot: "b", process: 1, startedAt: JournalSamples.time(1)))
            let acknowledged = try OpenFile.open(
                folder.appending("acknowledged"), O_WRONLY | O_CREAT | O_APPEND, mode: 0o644)
            let enough = DispatchSemaphore(value: 0)
            DispatchQueue.global().async { @Sendable in
                enough.wait()
                kill(getpid(), SIGKILL)
            }
            for number in 1...100_000 {
                let jobs = try (0..<5).map { try JournalSamples.fullJob(number * 5 + $0) }
                try journal.write(jobs, pipelines: [])
                try acknowledged.write(Array("\(number)\n".utf8))
                if number == 50 * round { enough.signal() }
            }
        }
        let count = try scratch.text("acknowledged").split(separator: "\n").count
        #expect(count >= 50 * round)
        let journal = try open(durable: true)
        defer { journal.close() }
        for number in 1...count {
            for job in number * 5..<number * 5 + 5 {
                #expect(try journal.job(JournalSamples.id(job)) == JournalSamples.fullJob(job))
            }
        }
        // One more transaction may have come through, whole.
        let rows = try journal.jobs(JobQuery()).count
        #expect(rows == count * 5 || rows == count * 5 + 5)
        let next = RunRecord(boot: "b", process: 2, startedAt: JournalSamples.time(2))
        #expect(try journal.beginRun(next)?.endedAt == nil)
    }

    @Test("Queries find their rows by an index")
    func usesIndexes() throws {
        try open().close()
        for (query, index) in [
            ("\(JobRow.isUnfinished) ORDER BY claimed_at DESC, rowid DESC", "jobs_unfinished"),
            ("state = 'failed' ORDER BY claimed_at DESC, rowid DESC", "jobs_failed"),
            ("pipeline = 'a' ORDER BY claimed_at DESC, rowid DESC LIMIT 5", "jobs_of_pipeline"),
            ("claimed_at >= 5 ORDER BY claimed_at DESC, rowid DESC", "jobs_claimed_at"),
            ("retry_of = 'a'", "jobs_retry_of"), ("replay_of = 'a'", "jobs_replay_of"),
            ("finished_at < 5 AND state IN ('processed', 'failed', 'lost') LIMIT 5", "jobs_finished_at"),
        ] {
            let plan = try database().all("EXPLAIN QUERY PLAN SELECT id FROM jobs WHERE \(query)")
                .compactMap(\.last?.text)
            #expect(plan.count == 1 && plan.allSatisfy { $0.contains(index) }, "\(query): \(plan)")
        }
    }
}

/// What threads of a test share.
private final class Shared: Sendable {
    let messages = Mutex<[String]>([])
    let isDone = Atomic(false)
}
