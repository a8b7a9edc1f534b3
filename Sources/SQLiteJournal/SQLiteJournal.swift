import Dispatch
package import Files
import Glibc
package import Journal
package import PipelineKit
import SQLite
import Synchronization
package import SystemPackage

/// The journal in an SQLite database, `journal.sqlite` in the state folder, in WAL mode: one connection writes, and
/// reading, in this process or another, neither waits for it nor holds it up.
package final class SQLiteJournal: EngineJournal, Sendable {
    private struct Connections {
        let reader: Pool
        let writer: Pool?
        let identities: [FileIdentity?]
    }

    let path: FilePath
    private let durable: Mutex<Bool>
    private let connections: Mutex<Connections>
    /// What is in it, as far as writing needs that.
    private let known = Mutex(KnownRows())
    /// The table `figures`, for the holder of `turn`.
    private let figured = Mutex<FigureRows.Known?>(nil)
    /// The folders from which originals are to go some day.
    let kept = Mutex<Set<KeptFolder>>([])
    /// What `mend` put in its place last and could not open; nil where it could.
    let unopened = Mutex<Fingerprint?>(nil)
    /// One writer at a time, and none while the open file is being replaced.
    private let turn = DispatchSemaphore(value: 1)

    init(path: FilePath, reader: Pool, writer: Pool?, isDurable: Bool = false) {
        self.path = path
        durable = Mutex(isDurable)
        let identities = writer == nil ? [] : Self.identities(of: path)
        connections = Mutex(Connections(reader: reader, writer: writer, identities: identities))
    }

    /// Reads, and writes where `writer` is set.
    var reader: Pool { connections.withLock { $0.reader } }
    /// The same for writing; nil where the journal was opened for reading.
    var writer: Pool? { connections.withLock { $0.writer } }
    /// Which files are open for writing.
    var identities: [FileIdentity?] { connections.withLock { $0.identities } }

    /// Whether commits are on the disk when they return.
    var isDurable: Bool { durable.withLock { $0 } }

    package func makeDurable() throws(JournalError) {
        guard !isDurable else { return }
        try exclusively { () throws(JournalError) in
            try writing { writer in
                try writer.withWriter { db in try Self.setSync(db, durable: true, path) }
            }
            durable.withLock { $0 = true }
        }
    }

    /// Continues with the connections of another one.
    func adopt(_ other: SQLiteJournal) throws(JournalError) {
        let taken = other.connections.withLock { $0 }
        let rows = other.known.withLock { $0 }
        known.withLock { $0 = rows }
        figured.withLock { $0 = nil }
        let old = connections.withLock { connections in
            defer { connections = taken }
            return connections
        }
        old.reader.close()
    }

    /// Runs `body` without any other writer.
    func exclusively<Value>(_ body: () throws(JournalError) -> Value) throws(JournalError) -> Value {
        turn.wait()
        defer { turn.signal() }
        return try body()
    }

    /// Reads what writing needs to know.
    func learn() throws(JournalError) {
        let found = try read { db in
            var found = KnownRows()
            found.wrote(try Self.records(db, "\(JobRow.select) WHERE \(JobRow.isUnfinished)"))
            for settlement in try SettlementRow.all(db) {
                found.wrote(settlement: settlement.number, of: settlement.jobs.map(\.id))
            }
            return found
        }
        known.withLock { $0 = found }
    }

    /// The journal's file in a state folder.
    package static func file(in folder: FilePath) -> FilePath { folder.appending("journal.sqlite") }

    /// How large it is with its log; nil where there is none.
    package static func bytes(in folder: FilePath) -> Int64? {
        guard let size = FileStatus.of(file(in: folder))?.st_size else { return nil }
        let log = FileStatus.of(folder.appending("journal.sqlite-wal"))?.st_size ?? 0
        return Int64(size).addingSaturated(Int64(log))
    }

    package func write(
        _ jobs: [JobRecord], intending: [JobRecord], pipelines: [PipelineRecord]
    ) throws(JournalError) -> Set<JobID> {
        let known = known.withLock { $0 }
        var (jobs, intending) = (jobs, intending)
        // Seldom any.
        if intending.indices.contains(where: { known.isKnown(intending[$0].id) }) {
            jobs += intending.filter { known.isKnown($0.id) }
            intending.removeAll { known.isKnown($0.id) }
        }
        try exclusively { () throws(JournalError) in
            // Where nothing is written it is read again.
            let before = figured.withLock { figured in
                defer { figured = nil }
                return figured
            }
            let after = try withoutWaiting { [jobs, intending] db in
                var figures = FigureRows(after: before)
                if !jobs.isEmpty { try Self.write(jobs, known, &figures, to: db) }
                if !intending.isEmpty { try SettlementRow.add(intending, as: known.next, to: db) }
                for number in known.settlements(doneBy: jobs) { try SettlementRow.remove(number, from: db) }
                for pipeline in pipelines { try PipelineRow.write(pipeline, to: db) }
                return figures.known
            }
            figured.withLock { $0 = after }
        }
        self.known.withLock { now in
            now.wrote(jobs)
            if !intending.isEmpty { now.wrote(settlement: known.next, of: intending.map(\.id)) }
        }
        return []
    }

    /// A row that is new is inserted: for an UPSERT SQLite prepares to undo it by itself, and a row that is written
    /// short and grows takes up twice the room.
    private static func write(
        _ jobs: [JobRecord], _ known: KnownRows, _ figures: inout FigureRows, to db: Connection
    ) throws {
        let (insert, update) = (try db.statement(JobRow.insert), try db.statement(JobRow.update))
        let hasRetries = try RetryRow.isAny(db)
        var totals = try TotalRows(db)
        var values = Parameters()
        // By place, here and elsewhere: a loop over records copies each.
        for place in jobs.indices {
            values.removeAll()
            JobRow.add(jobs[place], to: &values)
            let isKnown = known.hasRow(jobs[place].id)
            if !isKnown { values.integer(jobs[place].modified.map { Timestamp($0).nanoseconds }) }
            try (isKnown ? update : insert).run(values)
            var hasEnded = jobs[place].state.isFinal
            if db.changes > 0 {
                totals.count(jobs[place])
                if jobs[place].state == .failed { try OpenRow.open(jobs[place], in: db) }
            } else {
                let job = jobs[place]
                // It is over, or another pipeline's, or another process has written it.
                let before = try totals.count(job.id.text, -1)
                try db.statement(JobRow.upsert).run(values)
                try OpenRow.update(job, before: before, in: db)
                hasEnded = try totals.count(job.id.text, 1) != nil && before == nil
            }
            if hasEnded { try figures.add(jobs[place], in: db) }
            if hasRetries { try RetryRow.removeIfTaken(by: jobs[place], in: db) }
            if hasRetries || jobs[place].retryOf != nil {
                try OpenRow.close(retriedAs: jobs[place].id, &totals, in: db)
            }
        }
        try totals.write(to: db)
        try figures.write(to: db)
    }

    /// What an earlier run was about to move becomes rows: whatever happens to one of its jobs, the others' ends must
    /// not leave a settlement behind that speaks of them.
    package func beginRun(_ run: RunRecord) throws(JournalError) -> RunRecord? {
        let last = try write { db in
            for settlement in try SettlementRow.all(db) {
                // None of them is over.
                var figures = FigureRows(after: nil)
                try Self.write(settlement.jobs, KnownRows(), &figures, to: db)
                try SettlementRow.remove(settlement.number, from: db)
            }
            let last = try RunRow.last(db)
            if let last {
                // Of claims that were made but for their rows: they may be other jobs now, which are not to find
                // themselves.
                try db.run(
                    "DELETE FROM contents WHERE at >= ? AND over = 0 AND job NOT IN (SELECT id FROM jobs)",
                    last.startedAt.nanoseconds)
            }
            try RunRow.add(run, to: db)
            return last
        }
        try learn()
        return last
    }

    package func endRun() throws(JournalError) {
        try write { db in try RunRow.endLast(at: .now(), in: db) }
    }

    package func noteRetry(of job: JobID, as file: SentFile) throws(JournalError) {
        try write { db in try RetryRow.add(job, as: file, isReplay: false, to: db) }
    }

    package func noteReplay(of job: JobID, as file: SentFile) throws(JournalError) {
        try write { db in try RetryRow.add(job, as: file, isReplay: true, to: db) }
    }

    package func forgetRetry(of job: JobID, as identity: FileIdentity) throws(JournalError) {
        try write { db in try RetryRow.remove(job, as: identity, from: db) }
    }

    package func change(_ change: HoldChange) throws(JournalError) {
        try exclusively { () throws(JournalError) in
            try durably { db in
                for hold in change.lifted { try HoldRow.remove(hold, from: db) }
                for hold in change.held { try HoldRow.put(hold, in: db) }
            }
        }
    }

    package func setDismissed(_ jobs: [JobID], _ dismissal: Dismissal) throws(JournalError) -> Set<JobID> {
        try exclusively { () throws(JournalError) in
            try durably { db in
                var totals = try TotalRows(db)
                let dismissed = try jobs.filter { try OpenRow.dismiss($0, dismissal, &totals, in: db) }
                try totals.write(to: db)
                return Set(dismissed)
            }
        }
    }

    package func first(_ content: SeenQuery, at time: Timestamp) throws(JournalError) -> SeenJob? {
        let found = try write { db in try ContentRow.first(content, at: time, in: db) }
        return found.flatMap { found in JobID(found.job).map { SeenJob($0, isOver: found.isOver) } }
    }

    package func probe() throws(JournalError) {
        guard isUnderItsName else {
            throw JournalError(.environment, "The journal '\(path.text)' was removed or replaced while it is in use.")
        }
        try write { db in
            // Nobody else uses this number, and it has to be another one: what stays as it is SQLite does not write.
            let number = try db.first("PRAGMA user_version")?.first?.integer ?? 0
            try db.execute("PRAGMA user_version = \(Int32(truncatingIfNeeded: number) &+ 1)")
        }
    }

    /// Frees the database's page cache: its pages keep the heap around them from being returned.
    package func releaseMemory() { writer?.releaseMemory() }

    package func close() {
        // Others may have it open, so that the last one's closing is not this one's. What was acknowledged is on the
        // disk anyway, if in the log.
        try? writer?.withWriter { try $0.execute("PRAGMA wal_checkpoint(TRUNCATE)") }
        reader.close()
    }

    func write<Value>(_ body: (Connection) throws -> Value) throws(JournalError) -> Value {
        try exclusively { () throws(JournalError) in try withoutWaiting(body) }
    }

    /// The same for the holder of `turn`.
    func withoutWaiting<Value>(_ body: (Connection) throws -> Value) throws(JournalError) -> Value {
        try writing { writer in try writer.write(body) }
    }

    /// The same, on the disk when it returns, however durable all else is.
    func durably<Value>(_ body: (Connection) throws -> Value) throws(JournalError) -> Value {
        try writing { writer in
            try writer.withWriter { db in
                try db.execute("PRAGMA synchronous = FULL")
                let result = Result { try db.transaction(isWriting: true, body) }
                if !isDurable { try db.execute("PRAGMA synchronous = NORMAL") }
                return try result.get()
            }
        }
    }

    private func writing<Value>(_ body: (Pool) throws -> Value) throws(JournalError) -> Value {
        guard let writer else {
            throw JournalError(.environment, "The journal '\(path.text)' was opened for reading only.")
        }
        do {
            return try body(writer)
        } catch {
            throw JournalError(error, "write", path)
        }
    }
}

extension JournalError {
    /// What SQLite's error means for us. What is neither trouble with the surroundings nor known counts as damage: then
    /// the file is set aside, not lost, and the work folders still say which jobs there are.
    init(_ error: any Error, _ action: String, _ path: FilePath) {
        if let error = error as? JournalError {
            self = error
            return
        }
        guard let error = error as? SQLiteError else {
            self.init(.environment, "Cannot \(action) the journal '\(path.text)': \(error).")
            return
        }
        let sentence = "Cannot \(action) the journal '\(path.text)': \(error)."
        // To SQLite a disk that has died may look like damage, or like another thing.
        if let fault = Self.fault(ofDiskOf: path) {
            self.init(.environment, "\(sentence) \(fault): check the disk and the kernel's log.")
            return
        }
        switch error.code {
        case .full:
            self.init(.environment, "\(sentence) Free space on its file system.")
        case .io where error.extendedCode == SQLiteError.noRoomForIndex:
            self.init(.environment, "\(sentence) Free space on its file system.")
        case .busy, .locked:
            self.init(.environment, "\(sentence) Another program has it locked; close that program.")
        case .cannotOpen, .permission, .authorization, .readOnly:
            self.init(.environment, "\(sentence) Check the rights to the file and its folder.")
        case .io, .noMemory, .interrupt, .abort, .protocol, .noLargeFiles, .misuse:
            self.init(.environment, "\(sentence) Check the disk and the kernel's log.")
        default:
            self.init(.corrupt, "The journal '\(path.text)' is damaged: \(error).")
        }
    }

    /// Reads a byte of the log, which is where the database is. That itself must not be opened: a process that closes
    /// any descriptor of a file loses all of its locks on it (fcntl(2)), and SQLite has none on the log.
    private static func fault(ofDiskOf path: FilePath) -> Errno? {
        do throws(IOError) {
            var first: UInt8 = 0
            _ = try withUnsafeMutableBytes(of: &first) { bytes throws(IOError) in
                try OpenFile.open(FilePath(path.string + "-wal"), O_RDONLY | O_NONBLOCK).read(into: bytes)
            }
            return nil
        } catch {
            return error.errno == .ioError || error.errno.isOfNetwork ? error.errno : nil
        }
    }
}
