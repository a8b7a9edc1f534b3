import Files
import Glibc
import SystemPackage

@testable import Dashboard

/// A connection on which just those bytes go that a test says.
final class RawConnection: Sendable {
    private let descriptor: Int32

    init(to address: ListenAddress) throws {
        switch address {
        case .unix(let path):
            descriptor = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_un()
            address.sun_family = sa_family_t(AF_UNIX)
            withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path.bytes) }
            try Self.connect(descriptor, &address, MemoryLayout<sockaddr_un>.size)
        case .ip(let host, let port):
            descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            inet_pton(AF_INET, host, &address.sin_addr)
            try Self.connect(descriptor, &address, MemoryLayout<sockaddr_in>.size)
        }
        var limit = timeval(tv_sec: 30, tv_usec: 0)
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { Glibc.close(descriptor) }

    private static func connect<Address>(_ descriptor: Int32, _ address: inout Address, _ size: Int) throws {
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(descriptor, $0, socklen_t(size))
            }
        }
        guard result == 0 else { throw Errno(rawValue: errno) }
    }

    /// What the other end closes meanwhile is not sent.
    func send(_ text: String) { send(Array(text.utf8)) }

    func send(_ bytes: [UInt8]) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Whether the other end has said something, or closed it.
    var isAnswered: Bool {
        var byte: UInt8 = 0
        return isClosed || recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT)) > 0
    }

    /// Whether the other end has closed it, and nothing is left to be read.
    var isClosed: Bool {
        var byte: UInt8 = 0
        let count = recv(descriptor, &byte, 1, Int32(MSG_PEEK) | Int32(MSG_DONTWAIT))
        return count == 0 || count < 0 && errno == ECONNRESET
    }

    /// What comes next; empty where it is closed, or nothing comes for half a minute.
    func receive() -> [UInt8] {
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        let count = recv(descriptor, &piece, piece.count, 0)
        return count > 0 ? Array(piece[..<count]) : []
    }

    /// A little of what is there; nothing where there is none.
    func takeSome() -> Int {
        var piece = [UInt8](repeating: 0, count: 4 << 10)
        return recv(descriptor, &piece, piece.count, Int32(MSG_DONTWAIT))
    }

    /// Whether the other end has not closed it.
    var isOpen: Bool {
        var look = pollfd(fd: descriptor, events: 0, revents: 0)
        return poll(&look, 1, 0) == 0
    }

    func receiveAll() -> [UInt8] {
        var all: [UInt8] = []
        while true {
            let piece = receive()
            if piece.isEmpty { return all }
            all += piece
        }
    }

    /// Until a text has come.
    func receive(until text: String) -> String {
        var all = ""
        while !all.contains(text) {
            let piece = receive()
            if piece.isEmpty { break }
            all += String(decoding: piece, as: UTF8.self)
        }
        return all
    }
}
