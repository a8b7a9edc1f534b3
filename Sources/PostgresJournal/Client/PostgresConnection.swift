import CPostgres
import Files
import Glibc
import Synchronization

/// A connection to a server, made when it is needed and made again where it was lost. Calls take turns; each says how
/// long it waits for an answer, since a network may swallow it.
final class PostgresConnection: Sendable {
    /// How long an answer is awaited, and a connection.
    static let patience = Duration.seconds(15)
    /// How long nothing is tried after a failure, at first and at most.
    static let firstPause = Duration.milliseconds(100), longestPause = Duration.seconds(10)

    private struct State {
        var handle: PostgresHandle?
        var pause = PostgresConnection.firstPause
        /// Why there is none, and when the next is made.
        var failure: (error: PostgresError, next: MonotonicTime)?
        var isClosed = false
    }

    private let place: PostgresPlace
    private let role: String
    private let longestPause: Duration
    private let hearing: Hearing?
    private let state = Mutex(State())

    /// What it hears of while nothing is asked: each text once that others send on a channel, whenever some come.
    struct Hearing: Sendable {
        let channel: String
        let heard: @Sendable (Set<String>) -> Void
    }

    /// `role`: what the server's lists say that it is for. `pause`: how long nothing is tried after a failure at most.
    init(
        to place: PostgresPlace, as role: String, pausing pause: Duration? = nil, hearing: Hearing? = nil
    ) {
        (self.place, self.role, longestPause) = (place, role, pause ?? Self.longestPause)
        self.hearing = hearing
    }

    /// Whether there is one by now.
    var isOpen: Bool { state.withLock { $0.handle != nil } }

    func close() {
        state.withLock { state in
            state.isClosed = true
            Self.drop(&state)
        }
    }

    /// Sends commands in one go, and returns the rows of each. They are one transaction.
    func exchange(
        _ queries: [PostgresQuery], within patience: Duration = patience
    ) throws(PostgresError) -> [[PostgresRow]] {
        var texts: Set<String> = []
        defer { tell(texts) }
        return try state.withLock { state throws(PostgresError) in
            let handle = try open(&state)
            defer { texts = heard(by: state) }
            do throws(PostgresError) {
                return try Self.exchange(queries, handle.pointer, until: .now() + patience)
            } catch {
                if case .lost = error { Self.drop(&state) }
                throw error
            }
        }
    }

    func query(_ query: PostgresQuery) throws(PostgresError) -> [PostgresRow] {
        try exchange([query]).first ?? []
    }

    /// Runs the body in a transaction, in which it asks one thing after the other.
    func transaction<Value>(
        _ body: ((PostgresQuery) throws(PostgresError) -> [PostgresRow]) throws -> Value
    ) throws -> Value {
        var texts: Set<String> = []
        defer { tell(texts) }
        return try state.withLock { state in
            let handle = try open(&state)
            defer { texts = heard(by: state) }
            func ask(_ query: PostgresQuery) throws(PostgresError) -> [PostgresRow] {
                try Self.exchange([query], handle.pointer, until: .now() + Self.patience).first ?? []
            }
            do {
                _ = try ask(PostgresQuery("BEGIN"))
                let value = try body(ask)
                _ = try ask(PostgresQuery("COMMIT"))
                return value
            } catch {
                // It ends with its connection.
                Self.drop(&state)
                throw error
            }
        }
    }

    // MARK: Hearing

    /// Something has come, or the connection has ended: then the next question makes another one.
    private func hear() {
        let texts = state.withLock { state in
            if state.handle?.receive() == false { Self.drop(&state) }
            return heard(by: state)
        }
        tell(texts)
    }

    /// What has come by now, with an answer or without.
    private func heard(by state: State) -> Set<String> {
        hearing == nil ? [] : state.handle?.takeNotifications() ?? []
    }

    /// Without the lock: whoever is told may ask something.
    private func tell(_ texts: Set<String>) { if !texts.isEmpty { hearing?.heard(texts) } }

    // MARK: Connecting

    private static func drop(_ state: inout State) {
        state.handle?.close()
        state.handle = nil
    }

    private func open(_ state: inout State) throws(PostgresError) -> PostgresHandle {
        if let handle = state.handle { return handle }
        if state.isClosed { throw .lost("it is closed") }
        if let failure = state.failure, .now() < failure.next { throw failure.error }
        do throws(PostgresError) {
            let pointer = try Self.connect(to: place, as: role, hearing: hearing?.channel)
            let heard = hearing == nil ? nil : { @Sendable [weak self] in self?.hear() ?? () }
            let handle = PostgresHandle(pointer, heard)
            (state.handle, state.failure, state.pause) = (handle, nil, Self.firstPause)
            return handle
        } catch {
            state.failure = (error, .now() + state.pause)
            state.pause = min(state.pause * 2, longestPause)
            throw error
        }
    }

    private static func connect(
        to place: PostgresPlace, as role: String, hearing channel: String?
    ) throws(PostgresError) -> OpaquePointer {
        if let problem = PostgresLibrary.shared.problem { throw .library(problem) }
        // What comes later counts; the place may say otherwise but of the encoding.
        let options = [
            ("connect_timeout", "5"), ("keepalives_idle", "10"), ("keepalives_interval", "5"),
            ("keepalives_count", "3"), ("tcp_user_timeout", "15000"), ("fallback_application_name", "dropmill \(role)"),
            ("dbname", place.words), ("client_encoding", "UTF8"),
        ]
        let pointer = withCStrings(options.map(\.0)) { keys in
            withCStrings(options.map(\.1)) { values in libpq.PQconnectdbParams(keys, values, 1) }
        }
        guard let pointer else { throw .lost("there is no memory for a connection") }
        func fail(_ error: PostgresError) -> PostgresError {
            libpq.PQfinish(pointer)
            return error
        }
        guard libpq.PQstatus(pointer) == CONNECTION_OK else {
            throw fail(Self.refusal(by: options, of: pointer) ?? .lost(words(of: pointer)))
        }
        if let refusal = PostgresError.refusal(ofServer: Int(libpq.PQserverVersion(pointer))) { throw fail(refusal) }
        _ = libpq.PQsetNoticeProcessor(pointer, dm_pq_ignore, nil)
        guard libpq.PQsetnonblocking(pointer, 1) == 0 else { throw fail(.lost(words(of: pointer))) }
        do throws(PostgresError) {
            _ = try exchange([settings], pointer, until: .now() + patience)
            if let channel { try listen(to: channel, pointer) }
        } catch {
            throw fail(error)
        }
        return pointer
    }

    /// A server that refuses that, or whoever stands before it, may do all else.
    private static func listen(to channel: String, _ connection: OpaquePointer) throws(PostgresError) {
        do throws(PostgresError) {
            _ = try exchange([PostgresQuery("LISTEN \(channel)")], connection, until: .now() + patience)
        } catch {
            guard case .refused = error else { throw error }
        }
    }

    /// Whatever the server, the database and the role have in mind: a commit is on the disk when it returns, and each
    /// command sees what was committed before it.
    private static let settings = PostgresQuery(
        """
        SELECT set_config('synchronous_commit', CASE current_setting('synchronous_commit') WHEN 'off' THEN 'on' \
        ELSE current_setting('synchronous_commit') END, false), \
        set_config('default_transaction_isolation', 'read committed', false), set_config('jit', 'off', false), \
        set_config('bytea_output', 'hex', false), set_config('idle_in_transaction_session_timeout', '20s', false)
        """)

    // MARK: Asking

    private static func exchange(
        _ queries: [PostgresQuery], _ connection: OpaquePointer, until deadline: MonotonicTime
    ) throws(PostgresError) -> [[PostgresRow]] {
        guard libpq.PQenterPipelineMode(connection) == 1 else { throw .lost(words(of: connection)) }
        for query in queries {
            let isSent = withCStrings(query.values) { values in
                libpq.PQsendQueryParams(
                    connection, query.sql, Int32(query.values.count), nil, values, nil, nil, 0)
            }
            guard isSent == 1 else { throw .lost(words(of: connection)) }
        }
        guard libpq.PQpipelineSync(connection) == 1 else { throw .lost(words(of: connection)) }
        var answers: [[PostgresRow]] = []
        var refusal: PostgresError?
        while true {
            try waitForAnswer(connection, until: deadline)
            // Each answer ends with nothing.
            guard let result = libpq.PQgetResult(connection) else {
                guard libpq.PQstatus(connection) == CONNECTION_OK else { throw .lost(words(of: connection)) }
                continue
            }
            defer { libpq.PQclear(result) }
            switch libpq.PQresultStatus(result) {
            case PGRES_TUPLES_OK: answers.append(rows(of: result))
            case PGRES_COMMAND_OK: answers.append([])
            case PGRES_PIPELINE_ABORTED: break
            case PGRES_PIPELINE_SYNC:
                guard libpq.PQexitPipelineMode(connection) == 1 else { throw .lost(words(of: connection)) }
                if let refusal { throw refusal }
                return answers
            default:
                let state = field(dm_pq_state, of: result)
                let error = PostgresError.refused(
                    state: state ?? "", field(dm_pq_message, of: result) ?? words(of: connection))
                // It ends the session: by an administrator, or since the server stops.
                if libpq.PQstatus(connection) != CONNECTION_OK || state?.hasPrefix("57P") ?? true {
                    throw .lost(words(of: connection))
                }
                refusal = refusal ?? error
            }
        }
    }

    /// Waits until there is an answer.
    private static func waitForAnswer(
        _ connection: OpaquePointer, until deadline: MonotonicTime
    ) throws(PostgresError) {
        while true {
            let left = libpq.PQflush(connection)
            guard left >= 0 else { throw .lost(words(of: connection)) }
            if left == 0, libpq.PQisBusy(connection) == 0 { return }
            let rest = (deadline - .now()).nanoseconds / 1_000_000
            guard rest > 0 else { throw .lost("the server does not answer") }
            let events = Int16(POLLIN) | (left > 0 ? Int16(POLLOUT) : 0)
            var wanted = pollfd(fd: libpq.PQsocket(connection), events: events, revents: 0)
            _ = poll(&wanted, 1, Int32(clamping: rest))
            guard libpq.PQconsumeInput(connection) == 1 else { throw .lost(words(of: connection)) }
        }
    }

    private static func rows(of result: OpaquePointer) -> [PostgresRow] {
        let columns = libpq.PQnfields(result)
        return (0..<libpq.PQntuples(result)).map { row in
            PostgresRow(
                (0..<columns).map { column in
                    if libpq.PQgetisnull(result, row, column) == 1 { return nil }
                    let bytes = UnsafeRawBufferPointer(
                        start: libpq.PQgetvalue(result, row, column), count: Int(libpq.PQgetlength(result, row, column))
                    )
                    return String(decoding: bytes, as: UTF8.self)
                })
        }
    }

    private static func field(_ field: Int32, of result: OpaquePointer) -> String? {
        libpq.PQresultErrorField(result, field).map { String(cString: $0).oneLine }
    }

    static func words(of connection: OpaquePointer) -> String {
        let text = libpq.PQerrorMessage(connection).map { String(cString: $0).oneLine } ?? ""
        return text.isEmpty ? "the connection was lost" : text
    }

    /// Texts for the time of a call, as C has them; the last one is followed by a null.
    static func withCStrings<Value>(
        _ texts: [String?], _ body: (UnsafePointer<UnsafePointer<CChar>?>) -> Value
    ) -> Value {
        let bytes = UnsafeMutablePointer<CChar>.allocate(capacity: texts.reduce(1) { $0 + ($1?.utf8.count ?? 0) + 1 })
        let places = UnsafeMutablePointer<UnsafePointer<CChar>?>.allocate(capacity: texts.count + 1)
        defer {
            bytes.deallocate()
            places.deallocate()
        }
        var next = bytes
        for (place, text) in texts.enumerated() {
            places[place] = text == nil ? nil : UnsafePointer(next)
            for byte in (text ?? "").utf8 {
                next.initialize(to: CChar(bitPattern: byte))
                next += 1
            }
            next.initialize(to: 0)
            next += 1
        }
        places[texts.count] = nil
        return body(UnsafePointer(places))
    }
}
