import Dispatch
import Synchronization

/// The connections of a process to one database. One writes, with a log (WAL): reading neither waits for it nor holds
/// it up.
package final class Pool: Sendable {
    private let writer: Shelf?
    private let readers: Shelf

    /// Opens it for writing. `prepare` is called with each connection.
    package init(
        writing path: String, prepare: @escaping @Sendable (Connection) throws -> Void
    ) throws {
        let open = { @Sendable (access: Connection.Access) in
            let connection = try Connection(path, for: access)
            try prepare(connection)
            return connection
        }
        let first = try open(.writing)
        // Of a new file free pages can be given back; one that is there has to be rewritten for that.
        if try first.first("PRAGMA page_count")?.first?.integer == 0 {
            try first.execute("PRAGMA auto_vacuum = INCREMENTAL")
        }
        let mode = try first.first("PRAGMA journal_mode = WAL")?.first?.text
        guard mode == "wal" else {
            throw SQLiteError(.cannotOpen, "it cannot have a log; its journal mode stays \(mode ?? "unknown")")
        }
        writer = Shelf(1, first) { try open(.writing) }
        readers = Shelf(2) { try open(.reading) }
    }

    /// Opens it for reading, through one connection. `isImmutable`: the file does not change meanwhile.
    package init(reading path: String, isImmutable: Bool = false) throws {
        let open = { @Sendable in try Connection(path, for: isImmutable ? .immutable : .reading) }
        writer = nil
        readers = Shelf(1, try open(), open)
    }

    /// Runs the body on one state of the database.
    package func read<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try readers.lend { connection in try connection.transaction(isWriting: false, body) }
    }

    /// Runs the body in a transaction, which it undoes by throwing.
    package func write<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        try withWriter { connection in try connection.transaction(isWriting: true, body) }
    }

    /// The same without a transaction.
    package func withWriter<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        guard let writer else { throw SQLiteError(.readOnly, "it was opened for reading only") }
        return try writer.lend(body)
    }

    /// Frees the page caches.
    package func releaseMemory() {
        for shelf in [writer, readers] { shelf?.forEachIdle { $0.releaseMemory() } }
    }

    /// Ends it once those who use it are done; who comes later is refused. The writer goes last: only that can move the
    /// log into the database.
    package func close() {
        readers.close()
        writer?.close()
    }
}

/// Connections that are lent to one at a time.
private final class Shelf: Sendable {
    /// Only one has it: who takes it off the shelf, under its lock.
    private struct Idle: @unchecked Sendable {
        let connection: Connection
    }

    private struct State {
        var idle: [Idle] = []
        var isClosed = false
    }

    private let state: Mutex<State>
    private let free: DispatchSemaphore
    private let closing = Mutex(())
    private let count: Int
    private let open: @Sendable () throws -> Connection

    init(_ count: Int, _ first: sending Connection? = nil, _ open: @escaping @Sendable () throws -> Connection) {
        (self.count, self.open) = (count, open)
        free = DispatchSemaphore(value: count)
        let idle = first.map { [Idle(connection: $0)] } ?? []
        state = Mutex(State(idle: idle))
    }

    func lend<Result>(_ body: (Connection) throws -> Result) throws -> Result {
        free.wait()
        defer { free.signal() }
        let (idle, isClosed) = state.withLock { ($0.idle.popLast(), $0.isClosed) }
        guard !isClosed else { throw SQLiteError(.misuse, "it was closed") }
        let lent = Idle(connection: try idle?.connection ?? open())
        defer { state.withLock { $0.idle.append(lent) } }
        return try body(lent.connection)
    }

    func forEachIdle(_ body: (Connection) -> Void) {
        state.withLock { state in for idle in state.idle { body(idle.connection) } }
    }

    func close() {
        // One after another, or each would wait for what another has taken.
        closing.withLock { _ in
            for _ in 0..<count { free.wait() }
            state.withLock { $0 = State(isClosed: true) }
            for _ in 0..<count { free.signal() }
        }
    }
}
