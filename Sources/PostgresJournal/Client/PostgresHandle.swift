import CPostgres
@preconcurrency import Dispatch
import Glibc

/// A connection that is there, and what listens to it.
// @unchecked: only who has the lock of its `PostgresConnection` uses it.
struct PostgresHandle: @unchecked Sendable {
    let pointer: OpaquePointer
    private let listener: (any DispatchSourceRead)?

    /// `heard`: called on a queue of its own whenever there is something to be received; nil where nobody wants that.
    init(_ pointer: OpaquePointer, _ heard: (@Sendable () -> Void)?) {
        self.pointer = pointer
        listener = heard.flatMap { Self.listener(of: pointer, $0) }
    }

    private static func listener(
        of connection: OpaquePointer, _ heard: @escaping @Sendable () -> Void
    ) -> (any DispatchSourceRead)? {
        // One of its own: it is closed when nobody listens any more, and libpq closes the other when it likes.
        let socket = fcntl(libpq.PQsocket(connection), F_DUPFD_CLOEXEC, 0)
        guard socket >= 0 else { return nil }
        let source = DispatchSource.makeReadSource(
            fileDescriptor: socket, queue: DispatchQueue(label: "dropmill.hints"))
        source.setEventHandler(handler: heard)
        source.setCancelHandler { @Sendable in Glibc.close(socket) }
        source.activate()
        return source
    }

    func close() {
        listener?.cancel()
        libpq.PQfinish(pointer)
    }

    /// Reads what is there, without waiting. Returns false where the connection has ended.
    func receive() -> Bool {
        var socket = pollfd(fd: libpq.PQsocket(pointer), events: Int16(POLLIN), revents: 0)
        repeat {
            guard libpq.PQconsumeInput(pointer) == 1 else { return false }
            // A source says once that the other side has gone: not again after its last words.
        } while poll(&socket, 1, 0) > 0 && socket.revents & Int16(POLLHUP) != 0
        return true
    }

    /// What others have sent, of what was read; what it sent itself comes back to it, too.
    func takeNotifications() -> Set<String> {
        var texts: Set<String> = []
        while let found = libpq.PQnotifies(pointer) {
            defer { libpq.PQfreemem(found) }
            if found.pointee.be_pid == libpq.PQbackendPID(pointer) { continue }
            texts.insert(String(cString: found.pointee.extra))
        }
        return texts
    }
}
