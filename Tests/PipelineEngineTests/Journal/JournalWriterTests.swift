import Dispatch
import Files
import Synchronization
import TestSupport
import Testing

@testable import Journal

/// Batches, order and failures, seen through a journal that counts transactions and an alarm that rings when it is
/// told.
@Suite("Journal writer")
struct JournalWriterTests {
    private let journal = MemoryJournal()
    private let alarms = Alarms()
    private let reports = Mutexed<[String]>([])
    private let outcomes = Mutexed<[String]>([])
    private let queue = DispatchQueue(label: "dropmill.journal")
    private let writer: JournalWriter

    init() {
        writer = JournalWriter(journal: journal, queue: queue, alarm: alarms.set) { [reports] error in
            reports.with { $0.append(error?.message ?? "well") }
        }
    }

    private var transactions: [[JobRecord]] { journal.contents.withLock { $0.transactions } }

    private func fail(_ kinds: JournalError.Kind...) {
        journal.contents.withLock { $0.failures = kinds.map { JournalError($0, "\($0)") } }
    }

    private func commit(_ records: JobRecord..., as name: String) {
        writer.commit(records) { [outcomes] result in
            if case .failure(let error) = result {
                outcomes.with { $0.append("\(name): \(error.message)") }
            } else {
                outcomes.with { $0.append("\(name): done") }
            }
        }
    }

    /// Holds the journal in a transaction while `body` runs, so that what it gives gathers into one batch.
    private func whileBusy(_ body: () throws -> Void) throws {
        let entered = DispatchSemaphore(value: 0)
        let leave = DispatchSemaphore(value: 0)
        journal.contents.withLock { contents in
            contents.whileWriting = {
                entered.signal()
                leave.wait()
            }
        }
        commit(try JournalSamples.job(999), as: "busy")
        entered.wait()
        journal.contents.withLock { $0.whileWriting = nil }
        defer { leave.signal() }
        try body()
    }

    @Test("What is out of date when it is to be committed is not, and what is noted after it replaces it")
    func outOfDate() throws {
        var job = try JournalSamples.job(1)
        let isOff = Mutexed(false)
        #expect(try writer.commit([job], unless: { isOff.with { $0 } }) == [])
        isOff.with { $0 = true }
        let old = job
        job.state = .settling
        writer.note(job)
        #expect(try writer.commit([old], unless: { isOff.with { $0 } }) == nil)
        try writer.flush()
        #expect(transactions == [[old], [job]])
    }

    @Test("Notes wait for the alarm, those that come while it is set for the next")
    func notesWait() throws {
        let jobs = try (1...3).map { try JournalSamples.job($0) }
        for job in jobs { writer.note(job) }
        #expect(alarms.delays == [JournalWriter.delay])
        #expect(transactions.isEmpty)
        alarms.ring()
        drain()
        #expect(transactions == [[jobs[0]]])
        #expect(alarms.delays == [JournalWriter.delay])
        alarms.ring()
        drain()
        #expect(transactions == [[jobs[0]], [jobs[1], jobs[2]]])
        // Nothing new: no further transaction, and the next note sets the alarm again.
        #expect(alarms.delays.isEmpty)
        try writer.flush()
        #expect(transactions.count == 2)
        writer.note(jobs[0])
        #expect(alarms.delays.count == 1)
    }

    @Test("A commit takes along what was noted of its own jobs, and one job is one row: its newest")
    func coalesces() async throws {
        let first = try JournalSamples.job(1)
        let other = try JournalSamples.job(2)
        var newest = first
        newest.stage = 2
        writer.note(first)
        writer.note(other)
        commit(newest, as: "a")
        #expect(await eventually { outcomes.value == ["a: done"] })
        #expect(transactions == [[newest]])
        for _ in 1...2 {
            alarms.ring()
            drain()
        }
        #expect(transactions == [[newest], [other]])
    }

    @Test("A quick job is two rows, however many others come and go meanwhile")
    func rowsOfQuickJobs() async throws {
        let jobs = try (1...20).map { try JournalSamples.job($0) }
        // The alarm rings for one that was there long before, just after all of them came.
        let older = try JournalSamples.job(0)
        writer.note(older)
        for job in jobs { writer.note(job) }
        alarms.ring()
        drain()
        #expect(transactions == [[older]])
        for (number, job) in jobs.enumerated() {
            for state in [JobRecord.State.settling, .processed] {
                var record = job
                record.state = state
                commit(record, as: "\(number) \(state)")
                #expect(await eventually { outcomes.value.last == "\(number) \(state): done" })
            }
        }
        alarms.ring()
        drain()
        #expect(transactions.joined().count == 1 + 2 * jobs.count)
    }

    @Test("After a failure what was noted goes along with the next commit")
    func failedNotesGoAlong() async throws {
        let noted = try JournalSamples.job(1)
        let other = try JournalSamples.job(2)
        fail(.corrupt)
        writer.note(noted)
        #expect(writer.unwritten.isEmpty, "it is not late yet")
        alarms.ring()
        drain()
        #expect(writer.unwritten == [noted])
        commit(other, as: "a")
        #expect(await eventually { outcomes.value == ["a: done"] })
        #expect(transactions == [[noted, other]])
        #expect(writer.unwritten.isEmpty)
    }

    @Test("While what could not be written is tried again it still is unwritten")
    func stillUnwritten() async throws {
        let noted = try [1, 2].map { try JournalSamples.job($0) }
        var newer = noted[0]
        newer.state = .settling
        fail(.corrupt)
        for job in noted { writer.note(job) }
        alarms.ring()
        drain()
        func unwritten() -> [JobRecord] { writer.unwritten.sorted { $0.id.text < $1.id.text } }
        try whileBusy {
            #expect(unwritten() == noted)
            writer.note(newer)
            #expect(unwritten() == [newer, noted[1]])
        }
        #expect(await eventually { outcomes.value == ["busy: done"] && writer.unwritten.isEmpty })
    }

    @Test("While one transaction runs the next batch gathers")
    func gathers() async throws {
        let jobs = try (1...50).map { try JournalSamples.job($0) }
        try whileBusy {
            for job in jobs { commit(job, as: "\(job.drop.size)") }
        }
        #expect(await eventually { outcomes.value.count == 51 })
        #expect(transactions.count == 2)
        #expect(transactions.last == jobs)
        #expect(outcomes.value == ["busy: done"] + (1...50).map { "\($0): done" })
    }

    @Test("What is noted after a commit of the same job wins")
    func keepsOrder() async throws {
        let first = try JournalSamples.job(1)
        var second = first
        second.stage = 1
        try whileBusy {
            commit(first, as: "a")
            writer.note(second)
        }
        try writer.flush()
        #expect(try journal.job(first.id) == second)
        #expect(await eventually { outcomes.value.count == 2 })
    }

    @Test("An empty commit waits for nothing and writes nothing")
    func emptyCommit() async throws {
        commit(as: "none")
        #expect(await eventually { outcomes.value == ["none: done"] })
        #expect(transactions.isEmpty)
    }

    @Test("Notes are kept and tried again at growing intervals; it is said when that begins and ends")
    func retriesNotes() throws {
        let job = try JournalSamples.job(1)
        fail(.environment, .environment, .environment)
        writer.note(job)
        for _ in 1...3 {
            alarms.ring()
            drain()
        }
        #expect(alarms.delays == [.seconds(4)])
        #expect(alarms.all == [JournalWriter.delay, .seconds(1), .seconds(2), .seconds(4)])
        #expect(reports.value == ["environment"])
        var newer = job
        newer.stage = 3
        writer.note(newer)
        alarms.ring()
        drain()
        #expect(transactions == [[newer]])
        #expect(reports.value == ["environment", "well"])
        #expect(alarms.delays.isEmpty)
    }

    @Test("The intervals end at the longest")
    func longestInterval() throws {
        fail(.environment, .environment, .environment, .environment, .environment, .environment, .environment)
        writer.note(try JournalSamples.job(1))
        for _ in 1...7 {
            alarms.ring()
            drain()
        }
        #expect(alarms.all.suffix(3) == [.seconds(16), .seconds(30), .seconds(30)])
    }

    @Test("A commit that fails is its caller's; what was noted of the same job before is kept")
    func failedCommit() async throws {
        let noted = try JournalSamples.job(1)
        let other = try JournalSamples.job(2)
        var committed = noted
        committed.state = .settling
        fail(.environment)
        writer.note(noted)
        commit(committed, other, as: "a")
        #expect(await eventually { outcomes.value == ["a: environment"] })
        #expect(transactions.isEmpty)
        try writer.flush()
        #expect(transactions == [[noted]])
    }

    @Test("What came in while a write failed is newer than what is taken back")
    func newerWins() async throws {
        let old = try JournalSamples.job(1)
        var new = old
        new.stage = 1
        writer.note(old)
        let given = Mutexed(false)
        journal.contents.withLock { contents in
            contents.failures = [JournalError(.environment, "environment")]
            contents.whileWriting = { [writer, new] in
                // In the midst of the write that fails.
                if given.with({ value in
                    defer { value = true }; return !value
                }) {
                    writer.note(new)
                }
            }
        }
        alarms.ring()
        drain()
        try writer.flush()
        #expect(transactions == [[new]])
    }

    @Test("Damage is told and not tried again by itself, and nothing is dropped")
    func corrupt() async throws {
        let job = try JournalSamples.job(1)
        fail(.corrupt)
        writer.note(job)
        alarms.ring()
        drain()
        #expect(reports.value == ["corrupt"])
        #expect(alarms.delays.isEmpty)
        try writer.flush()
        #expect(transactions == [[job]])
    }

    @Test("Flushing tells of failures")
    func failedFlush() throws {
        fail(.environment)
        writer.note(try JournalSamples.job(1))
        #expect(throws: JournalError(.environment, "environment")) { try writer.flush() }
        try writer.flush()
        #expect(transactions.count == 1)
    }

    @Test("Closing writes the rest; after it a commit fails")
    func closing() async throws {
        let job = try JournalSamples.job(1)
        let pipeline = PipelineRecord(
            name: "a", inbox: "/in", failed: "/failed", stages: [], waiting: 1, updatedAt: JournalSamples.time(1))
        writer.note(job)
        writer.note(pipeline)
        try writer.close()
        #expect(transactions == [[job]])
        #expect(try journal.pipelines() == [pipeline])
        commit(job, as: "late")
        #expect(await eventually { outcomes.value.count == 1 })
        #expect(outcomes.value.first?.contains("closed") == true)
        #expect(transactions.count == 1)
    }

    /// Waits until the writer's queue has done what it was given.
    private func drain() { queue.sync {} }
}

/// An alarm that rings when the test says so.
private final class Alarms: Sendable {
    private struct State {
        var waiting: [(Duration, @Sendable () -> Void)] = []
        var all: [Duration] = []
    }

    private let state = Mutex(State())

    var set: JournalWriter.Alarm {
        { @Sendable delay, body in
            self.state.withLock { state in
                state.waiting.append((delay, body))
                state.all.append(delay)
            }
        }
    }

    /// The alarms that are set.
    var delays: [Duration] { state.withLock { $0.waiting.map(\.0) } }
    /// All that ever were.
    var all: [Duration] { state.withLock { $0.all } }

    func ring() {
        let bodies = state.withLock { state in
            defer { state.waiting = [] }
            return state.waiting.map(\.1)
        }
        for body in bodies { body() }
    }
}

/// A value behind a lock.
private final class Mutexed<Value: Sendable>: Sendable {
    private let mutex: Mutex<Value>

    init(_ value: Value) { mutex = Mutex(value) }

    var value: Value { mutex.withLock { $0 } }

    func with<Result: Sendable>(_ body: (inout Value) -> Result) -> Result {
        mutex.withLock { value in body(&value) }
    }
}
