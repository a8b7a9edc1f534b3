import Dispatch
package import Files
import Glibc
import Synchronization
package import SystemPackage

/// Stands between clients and a server on Unix sockets, as a network does: it loses answers, holds up what is sent,
/// and cuts connections when it is told to.
package final class SocketProxy: Sendable {
    private let listener: Int32
    private let server: FilePath
    private let isSwallowing = Atomic(false)
    private let count = Atomic(0)
    private let connections = Mutex(Connections())
    /// Those within hold up what comes.
    private let gate = DispatchGroup()

    private struct Connections {
        var open: Set<Int32> = []
        var isCut = false
        var isHeld = false
    }

    /// How many answers it has swallowed.
    package var swallowed: Int { count.load(ordering: .sequentiallyConsistent) }

    /// Listens at a path, for a server at another.
    package init(at path: FilePath, before server: FilePath) throws(IOError) {
        self.server = server
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = Self.withAddress(of: path) { bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 16) == 0 else { throw IOError("listen at", path, .last) }
        Self.detach { [self] in serve() }
    }

    deinit { Glibc.close(listener) }

    /// The next answer comes from the server and goes nowhere, and its connection ends.
    package func swallow() { isSwallowing.store(true, ordering: .sequentiallyConsistent) }

    /// What is sent from now on, either way, arrives when it is mended, also of connections that are given up by then.
    package func hold() {
        connections.withLock { connections in
            if !connections.isHeld { gate.enter() }
            connections.isHeld = true
        }
    }

    /// Ends all connections, and each new one.
    package func cut() {
        connections.withLock { connections in
            connections.isCut = true
            for one in connections.open { shutdown(one, Int32(SHUT_RDWR)) }
        }
    }

    package func mend() {
        connections.withLock { connections in
            if connections.isHeld { gate.leave() }
            (connections.isHeld, connections.isCut) = (false, false)
        }
    }

    package func stop() {
        shutdown(listener, Int32(SHUT_RDWR))
        cut()
        connections.withLock { if $0.isHeld { gate.leave() } }
    }

    private func serve() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            let isThrough = Self.withAddress(of: server, { connect(upstream, $0, $1) }) == 0
            let isWanted = connections.withLock { connections in
                if isThrough, !connections.isCut { connections.open.formUnion([client, upstream]) }
                return !connections.isCut
            }
            guard isThrough, isWanted else {
                Glibc.close(client)
                Glibc.close(upstream)
                continue
            }
            let left = Directions()
            Self.detach { [self] in copy(client, to: upstream, mayLose: false, left) }
            Self.detach { [self] in copy(upstream, to: client, mayLose: true, left) }
        }
    }

    /// How many of the two directions go on.
    private final class Directions: Sendable {
        let count = Atomic(2)
    }

    private func copy(_ source: Int32, to target: Int32, mayLose: Bool, _ left: Directions) {
        var bytes = [UInt8](repeating: 0, count: 1 << 16)
        while true {
            let count = read(source, &bytes, bytes.count)
            gate.wait()
            guard count > 0 else { break }
            if mayLose, isSwallowing.exchange(false, ordering: .sequentiallyConsistent) {
                self.count.add(1, ordering: .sequentiallyConsistent)
                break
            }
            guard bytes.withUnsafeBytes({ send(target, $0.baseAddress, count, Int32(MSG_NOSIGNAL)) }) == count
            else { break }
        }
        shutdown(source, Int32(SHUT_RDWR))
        shutdown(target, Int32(SHUT_RDWR))
        if left.count.subtract(1, ordering: .sequentiallyConsistent).newValue == 0 {
            connections.withLock { connections in
                connections.open.subtract([source, target])
                Glibc.close(source)
                Glibc.close(target)
            }
        }
    }

    private static func withAddress(
        of path: FilePath, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Int32
    ) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.bytes)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes.prefix($0.count - 1)) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                body($0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }

    /// On a thread of its own: it blocks.
    private static func detach(_ body: @escaping @Sendable () -> Void) {
        final class Body {
            let run: @Sendable () -> Void; init(_ run: @escaping @Sendable () -> Void) { self.run = run }
        }
        var thread = pthread_t()
        let context = Unmanaged.passRetained(Body(body)).toOpaque()
        pthread_create(
            &thread, nil,
            { context in
                if let context { Unmanaged<Body>.fromOpaque(context).takeRetainedValue().run() }
                return nil
            }, context)
        pthread_detach(thread)
    }
}
