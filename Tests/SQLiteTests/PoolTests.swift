import Dispatch
import Glibc
import Synchronization
import TestSupport
import Testing

@testable import SQLite

/// Who writes, who reads, and who waits for whom.
@Suite(.timeLimit(.minutes(1))) struct PoolTests {
    private let scratch: ScratchFolder
    private var path: String { scratch.path("a.sqlite").string }

    init() throws { scratch = try ScratchFolder() }

    private func open() throws -> Pool {
        let pool = try Pool(writing: path) { try $0.execute("PRAGMA journal_size_limit = 4096") }
        try pool.write { try $0.execute("CREATE TABLE IF NOT EXISTS t (a)") }
        return pool
    }

    private func count(_ db: Connection) throws -> Int64? { try db.first("SELECT count(*) FROM t")?.first?.integer }

    @Test func readersSeeOneStateWhileOneWrites() throws {
        let pool = try open()
        let other = try Pool(reading: path)
        try pool.read { db in
            #expect(try count(db) == 0)
            try pool.write { try $0.run("INSERT INTO t VALUES (1)") }
            #expect(try count(db) == 0, "it still is in the state in which it began")
            #expect(try pool.read(count) == 1, "a second one sees the next")
            #expect(try other.read(count) == 1)
        }
        #expect(try pool.read(count) == 1)
    }

    @Test func oneAtATimeWrites() throws {
        let pool = try open()
        let inside = Mutex(0)
        DispatchQueue.concurrentPerform(iterations: 8) { number in
            for _ in 0..<50 {
                try? pool.write { db in
                    #expect(
                        inside.withLock {
                            $0 += 1; return $0
                        } == 1)
                    try db.run("INSERT INTO t VALUES (?)", number)
                    inside.withLock { $0 -= 1 }
                }
            }
        }
        #expect(try pool.read(count) == 400)
    }

    @Test func anErrorLeavesItUsable() throws {
        let pool = try open()
        #expect(throws: SQLiteError.self) {
            try pool.write { db in
                try db.run("INSERT INTO t VALUES (1)")
                try db.run("nonsense")
            }
        }
        #expect(throws: SQLiteError.self) { try pool.read { try $0.run("INSERT INTO t VALUES (1)") } }
        try pool.write { try $0.run("INSERT INTO t VALUES (2)") }
        #expect(try pool.read { try $0.all("SELECT a FROM t") } == [[.integer(2)]])
    }

    @Test func whatIsLockedElsewhereIsWaitedFor() throws {
        let pool = try open()
        let other = try Connection(path, for: .writing)
        let (coming, end) = (DispatchSemaphore(value: 0), DispatchGroup())
        // Nothing in between waits for its turn among tests: the lock is waited for only so long.
        try other.execute("BEGIN IMMEDIATE")
        DispatchQueue(label: "writing").async(group: end) {
            coming.signal()
            try? pool.write { try $0.run("INSERT INTO t VALUES (1)") }
        }
        coming.wait()
        #expect(try pool.read(count) == 0)
        try other.execute("INSERT INTO t VALUES (2); COMMIT")
        try #require(end.wait(timeout: .now() + 30) == .success)
        #expect(try pool.read(count) == 2)
    }

    /// Each must not wait for what the other has.
    @Test func severalMayCloseItAtOnce() throws {
        for _ in 0..<50 {
            let pool = try open()
            let coming = Atomic(0)
            let closing = DispatchGroup()
            try pool.read { _ in
                try pool.read { _ in
                    for _ in 0..<2 {
                        DispatchQueue.global().async(group: closing) {
                            coming.add(1, ordering: .relaxed)
                            pool.close()
                        }
                    }
                    while coming.load(ordering: .relaxed) < 2 { sched_yield() }
                }
            }
            try #require(closing.wait(timeout: .now() + 30) == .success)
        }
    }

    @Test func oneThatIsClosedRefuses() throws {
        let pool = try open()
        try pool.withWriter { try $0.keepLog() }
        #expect(try pool.read(count) == 0)
        pool.releaseMemory()
        pool.close()
        #expect(try scratch.tree() == ["a.sqlite", "a.sqlite-shm", "a.sqlite-wal"], "the log is kept")
        let error = #expect(throws: SQLiteError.self) { try pool.read(count) }
        #expect(error?.code == .misuse)
        #expect(throws: SQLiteError.self) { try pool.write { try $0.run("INSERT INTO t VALUES (1)") } }
        let reader = try Pool(reading: path)
        #expect(throws: SQLiteError.self) { try reader.write { _ in } }
    }
}
