import Dispatch
package import Files
import GRDB
package import Journal
package import PipelineKit
import Synchronization
package import SystemPackage

/// The journal in an SQLite database, `journal.sqlite` in the state folder, in WAL mode: one connection writes, and
/// reading, in this process or another, neither waits for it nor holds it up.
package final class SQLiteJournal: Journal {
    private struct Connections {
        let reader: any DatabaseReader
        let writer: DatabasePool?
        let identities: [FileIdentity?]
    }

    let path: FilePath
    private let durable: Mutex<Bool>
    private let connections: Mutex<Connections>
    /// What is in it, as far as writing needs that.
    private let known = Mutex(KnownRows())
    /// What `mend` put in its place last and could not open; nil where it could.
    let unopened = Mutex<Fingerprint?>(nil)
    /// One writer at a time, and none while the open file is being replaced.
    private let turn = DispatchSemaphore(value: 1)

    init(path: FilePath, reader: any DatabaseReader, writer: DatabasePool?, isDurable: Bool = false) {
        self.path = path
        durable = Mutex(isDurable)
        let identities = writer == nil ? [] : Self.identities(of: path)
        connections = Mutex(Connections(reader: reader, writer: writer, identities: identities))
    }

    /// Reads, and writes where `writer` is set.
    var reader: any DatabaseReader { connections.withLock { $0.reader } }
    /// The same for writing; nil where the journal was opened for reading.
    var writer: DatabasePool? { connections.withLock { $0.writer } }
    /// Which files are open for writing.
    var identities: [FileIdentity?] { connections.withLock { $0.identities } }

    /// Whether commits are on the disk when they return.
    var isDurable: Bool { durable.withLock { $0 } }

    /// From now on they are: the next one takes along what was written before.
    package func makeDurable() throws(JournalError) {
        guard !isDurable else { return }
        try exclusively { () throws(JournalError) in
            try writing { writer in
                try writer.writeWithoutTransaction { db in try Self.setSync(db, durable: true, path) }
            }
            durable.withLock { $0 = true }
        }
    }

    /// Continues with the connections of another one.
    func adopt(_ other: SQLiteJournal) throws(JournalError) {
        let taken = other.connections.withLock { $0 }
        let rows = other.known.withLock { $0 }
        known.withLock { $0 = rows }
        let old = connections.withLock { connections in
            defer { connections = taken }
            return connections
        }
        do {
            try old.reader.close()
        } catch {
            // Whoever reads just now has the last of it.
        }
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
            found.wrote(try Self.records(db, "\(JobRow.select) WHERE \(JobRow.isUnfinished)", []))
            for settlement in try SettlementRow.all(db) {
                found.wrote(settlement: settlement.number, of: settlement.jobs.map(\.id))
            }
            return found
        }
        known.withLock { $0 = found }
    }

    /// The journal's file in a state folder.
    package static func file(in folder: FilePath) -> FilePath { folder.appending("journal.sqlite") }

    package func write(
        _ jobs: [JobRecord], intending: [JobRecord], pipelines: [PipelineRecord]
    ) throws(JournalError) {
        let known = known.withLock { $0 }
        var (jobs, intending) = (jobs, intending)
        // Seldom any.
        if intending.indices.contains(where: { known.isKnown(intending[$0].id) }) {
            jobs += intending.filter { known.isKnown($0.id) }
            intending.removeAll { known.isKnown($0.id) }
        }
        try write { [jobs, intending] db in
            if !jobs.isEmpty { try Self.write(jobs, known, to: db) }
            if !intending.isEmpty { try SettlementRow.add(intending, as: known.next, to: db) }
            for number in known.settlements(doneBy: jobs) { try SettlementRow.remove(number, from: db) }
            for pipeline in pipelines { try PipelineRow.write(pipeline, to: db) }
        }
        self.known.withLock { now in
            now.wrote(jobs)
            if !intending.isEmpty { now.wrote(settlement: known.next, of: intending.map(\.id)) }
        }
    }

    /// A row that is new is inserted: for an UPSERT SQLite prepares to undo it by itself, and a row that is written
    /// short and grows takes up twice the room.
    private static func write(_ jobs: [JobRecord], _ known: KnownRows, to db: Database) throws {
        let (insert, update) = (
            try db.cachedStatement(sql: JobRow.insert), try db.cachedStatement(sql: JobRow.update)
        )
        let hasRetries = try RetryRow.isAny(db)
        var totals = try TotalRows(db)
        var values = RowValues()
        // By place, here and elsewhere: a loop over records copies each.
        for place in jobs.indices {
            values.removeAll()
            JobRow.add(jobs[place], to: &values)
            let isKnown = known.hasRow(jobs[place].id)
            if !isKnown { values.integer(jobs[place].modified.map { Timestamp($0).nanoseconds }) }
            try values.execute(isKnown ? update : insert, in: db)
            if db.changesCount > 0 {
                totals.count(jobs[place])
            } else {
                let job = jobs[place]
                // It is over, or another pipeline's, or another process has written it.
                try totals.count(job.id.text, -1)
                try values.execute(try db.cachedStatement(sql: JobRow.upsert), in: db)
                try totals.count(job.id.text, 1)
            }
            if hasRetries { try RetryRow.removeIfTaken(by: jobs[place], in: db) }
        }
        try totals.write(to: db)
    }

    /// What an earlier run was about to move becomes rows: whatever happens to one of its jobs, the others' ends must
    /// not leave a settlement behind that speaks of them.
    package func beginRun(_ run: RunRecord) throws(JournalError) -> RunRecord? {
        let last = try write { db in
            for settlement in try SettlementRow.all(db) {
                try Self.write(settlement.jobs, KnownRows(), to: db)
                try SettlementRow.remove(settlement.number, from: db)
            }
            let last = try RunRow.last(db)
            if let last {
                // Of claims that were made but for their rows: they may be other jobs now, which are not to find
                // themselves.
                try db.execute(
                    sql: "DELETE FROM contents WHERE at >= ? AND job NOT IN (SELECT id FROM jobs)",
                    arguments: [last.startedAt.nanoseconds])
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

    package func first(_ content: SeenQuery, at time: Timestamp) throws(JournalError) -> SeenJob? {
        let found = try write { db in try ContentRow.first(content, at: time, in: db) }
        return found.flatMap { found in JobID(found.job).map { SeenJob($0, isOver: found.isOver) } }
    }

    /// Jobs that one transaction of `prune` removes: some 10 ms, for which other writes wait.
    private static let pruneBatch = 500

    /// The pages of what is removed are used again by what comes next, so the file stays as large as the longest
    /// history was; a VACUUM would rewrite all of it while everything waits.
    package func prune(finishedBefore time: Timestamp) throws(JournalError) -> Int {
        var removed = 0
        while true {
            let count = try write { db in
                var totals = try TotalRows(db)
                let old = try String.fetchAll(
                    db,
                    // Ids never go back; a clock that was wrong when the job ended does.
                    sql: """
                        SELECT id FROM jobs WHERE finished_at < ? AND id < ? AND \(JobRow.isOver) \
                        LIMIT \(Self.pruneBatch)
                        """,
                    arguments: [time.nanoseconds, JobID.first(at: time).text]
                )
                let delete = try db.cachedStatement(sql: "DELETE FROM jobs WHERE id = ?")
                for id in old {
                    try totals.count(id, -1)
                    try delete.execute(arguments: [id])
                }
                try totals.write(to: db)
                return old.count
            }
            removed += count
            if count < Self.pruneBatch { break }
        }
        // A file that was sent back and never became a job again is no longer asked for.
        try write { db in
            try db.execute(sql: "DELETE FROM retries WHERE job NOT IN (SELECT id FROM jobs)")
            for table in ["contents", "audit", "retries"] {
                try db.execute(sql: "DELETE FROM \(table) WHERE at < ?", arguments: [time.nanoseconds])
            }
        }
        return removed
    }

    package func probe() throws(JournalError) {
        guard isUnderItsName else {
            throw JournalError(.environment, "The journal '\(path.text)' was removed or replaced while it is in use.")
        }
        try write { db in
            // Nobody else uses this number, and it has to be another one: what stays as it is SQLite does not write.
            let number = try Int32.fetchOne(db, sql: "PRAGMA user_version") ?? 0
            try db.execute(sql: "PRAGMA user_version = \(number &+ 1)")
        }
    }

    /// Frees the database's page cache: its pages keep the heap around them from being returned.
    package func releaseMemory() { writer?.releaseMemory() }

    package func close() {
        do {
            // GRDB closes its readers last, and those cannot move the log into the database; so that is done before.
            try writer?.writeWithoutTransaction { try $0.execute(sql: "PRAGMA wal_checkpoint(TRUNCATE)") }
            try reader.close()
        } catch {
            // All that was acknowledged is on the disk, if in the log; what is left goes with the process.
        }
    }

    func write<Value>(_ body: (Database) throws -> Value) throws(JournalError) -> Value {
        try exclusively { () throws(JournalError) in try withoutWaiting(body) }
    }

    /// The same for the holder of `turn`.
    func withoutWaiting<Value>(_ body: (Database) throws -> Value) throws(JournalError) -> Value {
        try writing { writer in try writer.write(body) }
    }

    /// The same, on the disk when it returns, however durable all else is.
    private func durably(_ body: (Database) throws -> Void) throws(JournalError) {
        try writing { writer in
            try writer.writeWithoutTransaction { db in
                try db.execute(sql: "PRAGMA synchronous = FULL")
                let result = Result {
                    try db.inTransaction {
                        try body(db)
                        return .commit
                    }
                }
                if !isDurable { try db.execute(sql: "PRAGMA synchronous = NORMAL") }
                try result.get()
            }
        }
    }

    private func writing<Value>(_ body: (DatabasePool) throws -> Value) throws(JournalError) -> Value {
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
        guard let error = error as? DatabaseError else {
            self.init(.environment, "Cannot \(action) the journal '\(path.text)': \(error).")
            return
        }
        let fact = "\(error.message ?? "no reason given") (SQLite error \(error.extendedResultCode.rawValue))"
        let sentence = "Cannot \(action) the journal '\(path.text)': \(fact)."
        switch error.resultCode {
        case .SQLITE_FULL:
            self.init(.environment, "\(sentence) Free space on its file system.")
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE:
            // The file `-shm` finds no room.
            self.init(.environment, "\(sentence) Free space on its file system.")
        case .SQLITE_BUSY, .SQLITE_LOCKED:
            self.init(.environment, "\(sentence) Another program has it locked; close that program.")
        case .SQLITE_CANTOPEN, .SQLITE_PERM, .SQLITE_AUTH, .SQLITE_READONLY:
            self.init(
                .environment, "\(sentence) Check the rights to the file and its folder.")
        case .SQLITE_IOERR, .SQLITE_NOMEM, .SQLITE_INTERRUPT, .SQLITE_ABORT, .SQLITE_PROTOCOL, .SQLITE_NOLFS,
            .SQLITE_MISUSE:
            self.init(.environment, "\(sentence) Check the disk and the kernel's log.")
        default:
            self.init(.corrupt, "The journal '\(path.text)' is damaged: \(fact).")
        }
    }
}
