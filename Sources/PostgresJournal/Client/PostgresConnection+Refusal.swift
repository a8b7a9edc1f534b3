import CPostgres
import Files
import Glibc

extension PostgresConnection {
    /// Why a connection could not be made, where the server has a reason that people can do something about; nil where
    /// it has none, or that is not known. What a server refuses has a code, which libpq tells in its messages alone,
    /// and only who asks for that before.
    static func refusal(by options: [(String, String)], of connection: OpaquePointer) -> PostgresError? {
        let text = words(of: connection)
        if libpq.PQconnectionNeedsPassword(connection) == 1 {
            return .refused(state: PostgresState.noEntry, text)
        }
        // A service that is not known, or a key: no server was asked, nor a name's address.
        if libpq.PQsocket(connection) < 0, libpq.PQconninfo(connection).map(isUnset) ?? false { return .unfit(text) }
        // `FATAL:  `, in whichever language: it was a server that said so.
        guard text.contains(/: \p{Lu}+: {2}/), let state = code(by: options),
            PostgresState.isConfiguration(state) || state == PostgresState.noConnection
        else {
            return nil
        }
        return .refused(state: state, text)
    }

    /// How long is waited for that.
    private static let patienceForCodes = Duration.seconds(3)

    private static func isUnset(_ options: UnsafeMutablePointer<PQconninfoOption>) -> Bool {
        defer { libpq.PQconninfoFree(options) }
        return PostgresPlace.values(of: options).isEmpty
    }

    /// The code of the error with which a connection is refused.
    private static func code(by options: [(String, String)]) -> String? {
        let begun = withCStrings(options.map(\.0)) { keys in
            withCStrings(options.map(\.1)) { values in libpq.PQconnectStartParams(keys, values, 1) }
        }
        guard let begun else { return nil }
        defer { libpq.PQfinish(begun) }
        _ = libpq.PQsetErrorVerbosity(begun, PQERRORS_VERBOSE)
        let deadline = MonotonicTime.now() + patienceForCodes
        var next = PGRES_POLLING_WRITING
        while next == PGRES_POLLING_READING || next == PGRES_POLLING_WRITING {
            let rest = (deadline - .now()).nanoseconds / 1_000_000
            guard rest > 0, libpq.PQstatus(begun) != CONNECTION_BAD else { break }
            let events = Int16(next == PGRES_POLLING_READING ? POLLIN : POLLOUT)
            var wanted = pollfd(fd: libpq.PQsocket(begun), events: events, revents: 0)
            _ = poll(&wanted, 1, Int32(clamping: rest))
            next = libpq.PQconnectPoll(begun)
        }
        return words(of: begun).firstMatch(of: /: {2}([0-9A-Z]{5}):/).map { String($0.output.1) }
    }
}
