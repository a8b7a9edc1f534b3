import Files
import Glibc
import Synchronization
import SystemPackage

/// Stands between a client and a server on Unix sockets, and loses answers when it is told to.
final class SocketProxy: Sendable {
    private let listener: Int32
    private let server: FilePath
    private let isSwallowing = Atomic(false)
    private let count = Atomic(0)

    /// How many answers it has swallowed.
    var swallowed: Int { count.load(ordering: .sequentiallyConsistent) }

    /// Listens at a path, for a server at another.
    init(at path: FilePath, before server: FilePath) throws(IOError) {
        self.server = server
        listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
        let bound = Self.withAddress(of: path) { bind(listener, $0, $1) }
        guard bound == 0, listen(listener, 16) == 0 else { throw IOError("listen at", path, .last) }
        Self.detach { [self] in serve() }
    }

    deinit { Glibc.close(listener) }

    /// The next answer comes from the server and goes nowhere, and its connection ends.
    func swallow() { isSwallowing.store(true, ordering: .sequentiallyConsistent) }

    func stop() { shutdown(listener, Int32(SHUT_RDWR)) }

    private func serve() {
        while true {
            let client = accept(listener, nil, nil)
            guard client >= 0 else { return }
            let upstream = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            guard Self.withAddress(of: server, { connect(upstream, $0, $1) }) == 0 else {
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
            Glibc.close(source)
            Glibc.close(target)
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
