import Files
import Glibc
import PipelineKit
import SystemPackage

/// The socket on which requests come in: made here, or handed over by systemd.
struct ListeningSocket: ~Copyable {
    let descriptor: Int32
    let address: ListenAddress
    /// What has to be removed in the end; nil where it is not ours.
    private let path: FilePath?

    private static let backlog: Int32 = 128

    /// One that listens at an address. A Unix socket gets rights for its owner and group.
    static func make(at address: ListenAddress) throws(ListenError) -> ListeningSocket {
        switch address {
        case .unix(let path): try make(at: path)
        case .ip(let host, let port): try make(at: host, port)
        }
    }

    /// The one that systemd has made and bound (sd_listen_fds(3)); nil where it has not.
    static func inherited(_ environment: [String: String]) throws(ListenError) -> ListeningSocket? {
        guard let process = environment["LISTEN_PID"].flatMap({ pid_t($0) }), process == getpid() else { return nil }
        guard environment["LISTEN_FDS"] == "1" else {
            throw ListenError("systemd hands over more than one socket; name one in the socket unit")
        }
        let descriptor: Int32 = 3
        var type: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(descriptor, SOL_SOCKET, SO_TYPE, &type, &size) == 0, type == Int32(SOCK_STREAM.rawValue) else {
            throw ListenError("what systemd hands over is no stream socket; write 'ListenStream=' in the socket unit")
        }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        return ListeningSocket(descriptor: descriptor, address: try Self.address(of: descriptor), path: nil)
    }

    /// To be called when nothing is served any more; who has the socket closes it.
    consuming func remove() {
        if let path { _ = path.withPlatformString { unlink($0) } }
    }

    private static func make(at path: FilePath) throws(ListenError) -> ListeningSocket {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.bytes
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw ListenError("'\(path.text)' is too long for a socket; use a shorter path")
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        guard descriptor >= 0 else { throw ListenError("a socket cannot be made: \(Errno.last)") }
        do throws(ListenError) {
            try clear(path)
            let bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
                }
            }
            let error = Errno.last
            guard bound == 0 else {
                throw ListenError(
                    "'\(path.text)' cannot be made: \(error); name another with --listen, or make its folder for "
                        + "\(CurrentUser.name)")
            }
            // Until it listens nobody gets in; then those of its group may.
            guard path.withPlatformString({ chmod($0, 0o660) }) == 0 else {
                throw ListenError("the rights of '\(path.text)' cannot be set: \(Errno.last)")
            }
            guard listen(descriptor, backlog) == 0 else { throw ListenError("it cannot listen: \(Errno.last)") }
        } catch {
            close(descriptor)
            throw error
        }
        return ListeningSocket(descriptor: descriptor, address: .unix(path), path: path)
    }

    /// Removes a socket that nobody listens at any more.
    private static func clear(_ path: FilePath) throws(ListenError) {
        guard let status = FileStatus.of(path) else { return }
        guard status.st_mode & S_IFMT == S_IFSOCK else {
            throw ListenError("'\(path.text)' is there, and is no socket; remove it, or name another with --listen")
        }
        guard !isServed(path) else {
            throw ListenError("another process listens at '\(path.text)'; end it, or name another with --listen")
        }
        _ = path.withPlatformString { unlink($0) }
    }

    private static func isServed(_ path: FilePath) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
        let probe = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        defer { close(probe) }
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(probe, $0, socklen_t(MemoryLayout<sockaddr_un>.size)) == 0
            }
        }
    }

    private static func make(at host: String, _ port: UInt16) throws(ListenError) -> ListeningSocket {
        let isIPv6 = ListenAddress.family(of: host) == AF_INET6
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(isIPv6 ? AF_INET6 : AF_INET, kind, 0)
        guard descriptor >= 0 else { throw ListenError("a socket cannot be made: \(Errno.last)") }
        var on: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &on, socklen_t(MemoryLayout<Int32>.size))
        let bound: Int32
        if isIPv6 {
            setsockopt(descriptor, Int32(IPPROTO_IPV6), IPV6_V6ONLY, &on, socklen_t(MemoryLayout<Int32>.size))
            var address = sockaddr_in6()
            address.sin6_family = sa_family_t(AF_INET6)
            address.sin6_port = port.bigEndian
            inet_pton(AF_INET6, host, &address.sin6_addr)
            bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in6>.size))
                }
            }
        } else {
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            bound = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
        }
        guard bound == 0, listen(descriptor, backlog) == 0 else {
            let error = Errno.last
            close(descriptor)
            throw ListenError("'\(host)' port \(port) cannot be listened at: \(error); name another with --listen")
        }
        do throws(ListenError) {
            return ListeningSocket(descriptor: descriptor, address: try address(of: descriptor), path: nil)
        } catch {
            close(descriptor)
            throw error
        }
    }

    /// By what the kernel says: port 0 became another.
    private static func address(of descriptor: Int32) throws(ListenError) -> ListenAddress {
        var storage = sockaddr_storage()
        var size = socklen_t(MemoryLayout<sockaddr_storage>.size)
        let result = withUnsafeMutablePointer(to: &storage) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(descriptor, $0, &size) }
        }
        guard result == 0 else { throw ListenError("the socket has no address: \(Errno.last)") }
        let bytes = withUnsafeBytes(of: storage) { Array($0.prefix(Int(size))) }
        switch Int32(storage.ss_family) {
        case AF_UNIX:
            let path = bytes.dropFirst(MemoryLayout<sa_family_t>.size).prefix { $0 != 0 }
            return .unix(FilePath(bytes: Array(path)))
        case AF_INET where bytes.count >= 8:
            return .ip(
                bytes[4..<8].map { String($0) }.joined(separator: "."), port: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
        case AF_INET6 where bytes.count >= 24:
            var text = [CChar](repeating: 0, count: Int(INET6_ADDRSTRLEN))
            let isText = bytes.withUnsafeBytes {
                inet_ntop(AF_INET6, $0.baseAddress.map { $0 + 8 }, &text, socklen_t(text.count))
            }
            guard isText != nil else { break }
            let host = String(decoding: text.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
            return .ip(host, port: UInt16(bytes[2]) << 8 | UInt16(bytes[3]))
        default: break
        }
        throw ListenError("what systemd hands over is neither a Unix socket nor one of IP")
    }
}
