import Files
import Glibc
import SystemPackage

/// A client of a Unix socket that keeps to no rules of HTTP.
struct RawExchange: ~Copyable {
    private let socket: OpenFile

    init(_ path: FilePath) throws(IOError) {
        let kind = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        socket = OpenFile(descriptor: Glibc.socket(AF_UNIX, kind, 0), path: path)
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: Array(path.string.utf8)) }
        let connected = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(socket.descriptor, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
        guard connected == 0 else { throw IOError("reach", path, .last) }
    }

    /// How many bytes the other side has taken.
    @discardableResult
    func send(_ bytes: [UInt8]) -> Int {
        var sent = 0
        while sent < bytes.count {
            let count = bytes[sent...].withUnsafeBytes {
                Glibc.send(socket.descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL))
            }
            guard count > 0 else { break }
            sent += count
        }
        return sent
    }

    /// What comes until a line that ends a head or a body has come, or the other side closes.
    func receive(until end: String? = nil) -> String {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 4096)
        while true {
            let count = recv(socket.descriptor, &piece, piece.count, 0)
            guard count > 0 else { break }
            bytes += piece[..<count]
            if let end, String(decoding: bytes, as: UTF8.self).contains(end) { break }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}
