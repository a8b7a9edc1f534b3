@preconcurrency package import Dispatch
import Files
package import PipelineKit
import Synchronization

/// Writes to the journal in batches, on a queue of its own: while one transaction runs the next batch gathers, and of
/// several records of one job in a batch only the newest is written.
///
/// What is noted waits for a while, also while others commit: most jobs have something newer to be written by then, so
/// that their claim costs no row of its own. What is committed is written at once. The rows of one job are written in
/// the order in which they were given.
package final class JournalWriter: Sendable {
    /// Calls back after a time, on any thread.
    package typealias Alarm = @Sendable (Duration, @escaping @Sendable () -> Void) -> Void
    /// Called on the writer's queue: whether what was committed is durable, but for what was fenced of the transaction.
    package typealias Completion = @Sendable (Result<Set<JobID>, JournalError>) -> Void

    /// How long a noted record waits at least, and at most twice; and how long until another try after a failure, at
    /// first and at most.
    package static let delay = Duration.milliseconds(200)
    package static let firstRetry = Duration.seconds(1), longestRetry = Duration.seconds(30)

    private let journal: any Journal
    private let queue: DispatchQueue
    private let alarm: Alarm
    private let report: @Sendable (JournalError?) -> Void
    private let dropped: @Sendable (Set<JobID>) -> Void
    private let state = Mutex(State())

    private struct State {
        var batch = Batch()
        /// A write is on its way to the queue and will take all that gathers until then.
        var isQueued = false
        var isAlarmSet = false
        var retry = JournalWriter.firstRetry
        var failure: JournalError?
        /// What was noted before the failure and is being tried again.
        var tried: [JobRecord] = []
        var isClosed = false

        /// Whether the alarm is to be set now: for all notes that are here. Those that come until it rings wait for
        /// the next, else a job that was claimed a moment before would cost a row that is out of date a moment later.
        mutating func setsAlarm() -> Bool {
            guard batch.hasNotes, !isAlarmSet else { return false }
            batch.makeDue()
            isAlarmSet = true
            return true
        }
    }

    /// A writer to a journal, which stays its owner's to close. `report` gets, on the writer's queue, why nothing
    /// can be written when that begins or changes, and nil when it ends; `dropped` gets which jobs are fenced, before
    /// those who wait for the transaction do.
    package init(
        journal: any Journal, queue: DispatchQueue = DispatchQueue(label: "dropmill.journal"), alarm: Alarm? = nil,
        report: @escaping @Sendable (JournalError?) -> Void = { _ in },
        dropped: @escaping @Sendable (Set<JobID>) -> Void = { _ in }
    ) {
        self.journal = journal
        self.queue = queue
        self.report = report
        self.dropped = dropped
        self.alarm =
            alarm ?? { @Sendable delay, body in
                queue.after(delay, body)
            }
    }

    /// Writes a job's row within twice `delay`. If that fails for reasons of the surroundings it is tried again at
    /// growing intervals, for whatever reason with the next commit or flush: the newest record of each job is kept
    /// until it is written. After `close` nothing is taken.
    package func note(_ record: JobRecord) { note { $0.note(record) } }

    /// The same with a pipeline's state.
    package func note(_ pipeline: PipelineRecord) { note { $0.pipelines[pipeline.name] = pipeline } }

    /// Writes jobs' rows at once, all or none, and reports when they are durable. If that fails, the caller gets the
    /// error, and none of it is kept.
    package func commit(_ records: [JobRecord], then completion: @escaping Completion) {
        let isTaken = state.withLock { state in
            guard !state.isClosed else { return false }
            state.batch.commit(records, then: completion)
            if !state.isQueued {
                state.isQueued = true
                queue.async { @Sendable in _ = self.write(.committed) }
            }
            return true
        }
        if !isTaken {
            queue.async { @Sendable in completion(.failure(Self.closed)) }
        }
    }

    /// Writes down what is about to be moved, and returns when that is durable: together for those jobs that have no
    /// rows yet. What was noted of them before is not written any more. Returns which are fenced: those must not be
    /// moved.
    package func commitIntents(_ records: [JobRecord]) throws(JournalError) -> Set<JobID> {
        try commit(records, areIntents: true, unless: { @Sendable in false }) ?? []
    }

    /// The same, and returns which are fenced when all others are durable. Written on the calling thread, or by
    /// another's transaction where one takes them along. Not to be called on the writer's queue.
    package func commit(_ records: [JobRecord]) throws(JournalError) -> Set<JobID> {
        try commit(records, unless: { @Sendable in false }) ?? []
    }

    /// The same, unless they are out of date once nothing can be given before them: what makes them so is noted after
    /// that, and replaces them. Returns nil where they were not taken.
    package func commit(
        _ records: [JobRecord], unless isOutOfDate: @Sendable () -> Bool
    ) throws(JournalError) -> Set<JobID>? {
        try commit(records, areIntents: false, unless: isOutOfDate)
    }

    private func commit(
        _ records: [JobRecord], areIntents: Bool, unless isOutOfDate: @Sendable () -> Bool
    ) throws(JournalError) -> Set<JobID>? {
        let outcome = Mutex<Result<Set<JobID>, JournalError>?>(nil)
        let isTaken = try state.withLock { state throws(JournalError) in
            guard !state.isClosed else { throw Self.closed }
            guard !isOutOfDate() else { return false }
            state.batch.commit(records, areIntents: areIntents) { @Sendable result in
                outcome.withLock { $0 = result }
            }
            return true
        }
        guard isTaken else { return nil }
        queue.sync {
            if outcome.withLock({ $0 == nil }) { _ = write(.committed) }
        }
        // Whoever writes takes every record that waits; without an answer nothing may be taken for durable.
        guard let result = outcome.withLock({ $0 }) else { throw Self.closed }
        let fenced = try result.get()
        return fenced.isEmpty ? [] : fenced.intersection(records.map(\.id))
    }

    /// Whether what is on record may be acted on now.
    package var mayAct: Bool { journal.mayAct }

    private static var closed: JournalError {
        JournalError(.environment, "The journal is closed; nothing more is written.")
    }

    /// Writes all that was given so far, and returns when it is durable. Blocks; not to be called from a completion.
    package func flush() throws(JournalError) {
        if let error = queue.sync(execute: { write(.all) }) { throw error }
    }

    /// Unfinished jobs that stand otherwise than the journal says, as long as it cannot be written: the newest of each.
    package var unwritten: [JobRecord] {
        state.withLock { state in
            guard state.failure != nil else { return [] }
            let noted = state.batch.noted
            let newer = Set(noted.map(\.id))
            return (state.tried.filter { !newer.contains($0.id) } + noted).filter { !$0.state.isFinal }
        }
    }

    /// Why what was given last could not be written; nil where it could.
    package var trouble: JournalError? { state.withLock { $0.failure } }

    /// Has the journal write what is there already, and calls back on the queue when it has, or could not.
    package func probe(_ done: @escaping @Sendable () -> Void) {
        queue.async { @Sendable [journal] in
            do throws(JournalError) {
                try journal.probe()
            } catch {
                // Whoever has something to be written reports that.
            }
            done()
        }
    }

    /// The same, and takes nothing any more.
    package func close() throws(JournalError) {
        state.withLock { $0.isClosed = true }
        try flush()
    }

    private func note(_ add: (inout Batch) -> Void) {
        let isFirst = state.withLock { state in
            guard !state.isClosed else { return false }
            add(&state.batch)
            return state.setsAlarm()
        }
        if isFirst { setAlarm(Self.delay) }
    }

    private func setAlarm(_ delay: Duration) {
        alarm(delay) { @Sendable in
            self.queue.async { @Sendable in
                self.state.withLock { $0.isAlarmSet = false }
                _ = self.write(.due)
            }
        }
    }

    /// Writes what has gathered. Runs on the queue.
    private func write(_ portion: Batch.Portion) -> JournalError? {
        let (batch, hasMore) = state.withLock { state in
            state.isQueued = false
            // What could not be written goes along with the next thing that can.
            let batch = state.batch.dequeue(state.failure == nil ? portion : .all)
            if state.failure != nil { state.tried = batch.noted }
            return (batch, portion == .due && state.setsAlarm())
        }
        if hasMore { setAlarm(Self.delay) }
        var result = Result<Set<JobID>, JournalError>.success([])
        if batch.hasRows {
            do throws(JournalError) {
                let (intending, jobs) = batch.jobs
                let fenced = try journal.write(
                    jobs, intending: intending, pipelines: Array(batch.pipelines.values))
                result = .success(fenced)
                succeeded()
                if !fenced.isEmpty { dropped(fenced) }
            } catch {
                failed(batch, error)
                result = .failure(error)
            }
        }
        for completion in batch.completions { completion(result) }
        if case .failure(let error) = result { return error }
        return nil
    }

    private func succeeded() {
        let wasFailing = state.withLock { state in
            defer { (state.failure, state.tried) = (nil, []) }
            state.retry = Self.firstRetry
            return state.failure != nil
        }
        if wasFailing { report(nil) }
    }

    private func failed(_ batch: Batch, _ error: JournalError) {
        let (isNews, delay) = state.withLock { state -> (Bool, Duration?) in
            state.batch.restore(batch)
            state.tried = []
            defer { state.failure = error }
            var delay: Duration?
            // Damage does not go away by waiting.
            if error.kind == .environment, state.setsAlarm() {
                delay = state.retry
                state.retry = min(state.retry * 2, Self.longestRetry)
            }
            return (state.failure != error, delay)
        }
        if let delay { setAlarm(delay) }
        if isNews { report(error) }
    }
}

/// What one transaction is to write.
private struct Batch {
    enum Portion { case committed, due, all }

    private struct Entry {
        var record: JobRecord
        /// The newest that was noted: what is kept where the transaction fails.
        var noted: JobRecord?
        /// A caller waits for it, or for what it replaced.
        var isCommitted = false
        /// Its moves are about to be made.
        var areIntents = false
        /// It was here when the alarm was set.
        var isDue = false

        func isIn(_ portion: Portion) -> Bool {
            switch portion {
            case .committed: isCommitted
            case .due: isCommitted || isDue
            case .all: true
            }
        }
    }

    private var entries: [Entry] = []
    private var places: [JobID: Int] = [:]
    var pipelines: [String: PipelineRecord] = [:]
    private(set) var completions: [JournalWriter.Completion] = []

    var jobs: (intending: [JobRecord], others: [JobRecord]) {
        var (intending, others) = ([JobRecord](), [JobRecord]())
        // Records are large, and an array that grows takes the memory for them three times.
        let count = entries.count { $0.areIntents }
        intending.reserveCapacity(count)
        others.reserveCapacity(entries.count - count)
        for place in entries.indices {
            if entries[place].areIntents {
                intending.append(entries[place].record)
            } else {
                others.append(entries[place].record)
            }
        }
        return (intending, others)
    }
    var hasRows: Bool { !entries.isEmpty || !pipelines.isEmpty }
    var hasNotes: Bool { !pipelines.isEmpty || entries.contains { $0.noted != nil } }

    var noted: [JobRecord] { entries.compactMap(\.noted) }

    mutating func note(_ record: JobRecord) { put(Entry(record: record, noted: record)) }

    mutating func commit(
        _ records: [JobRecord], areIntents: Bool = false, then completion: @escaping JournalWriter.Completion
    ) {
        let count = entries.count + records.count
        if count > entries.capacity { entries.reserveCapacity(max(count, 2 * entries.capacity)) }
        for place in records.indices {
            let noted = places[records[place].id].flatMap { entries[$0].noted }
            put(Entry(record: records[place], noted: noted, isCommitted: true, areIntents: areIntents))
        }
        completions.append(completion)
    }

    /// Keeps what was noted in a batch that could not be written, unless it was replaced since.
    mutating func restore(_ failed: Batch) {
        pipelines.merge(failed.pipelines) { newer, _ in newer }
        for case let noted? in failed.entries.map(\.noted) {
            if let place = places[noted.id] {
                if entries[place].noted == nil { entries[place].noted = noted }
            } else {
                note(noted)
            }
        }
    }

    mutating func makeDue() {
        for place in entries.indices { entries[place].isDue = true }
    }

    mutating func dequeue(_ portion: Portion) -> Batch {
        var rest = Batch()
        if portion != .all {
            for entry in entries where !entry.isIn(portion) { rest.put(entry) }
            entries.removeAll { !$0.isIn(portion) }
        }
        if portion == .committed { swap(&pipelines, &rest.pipelines) }
        swap(&self, &rest)
        return rest
    }

    private mutating func put(_ entry: Entry) {
        if let place = places[entry.record.id] {
            let old = entries[place]
            entries[place] = entry
            entries[place].isCommitted = old.isCommitted || entry.isCommitted
            entries[place].isDue = old.isDue || entry.isDue
        } else {
            places[entry.record.id] = entries.count
            entries.append(entry)
        }
    }
}
