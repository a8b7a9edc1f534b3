import Files
import Glibc
import PipelineKit
import SystemPackage

/// Where clamd listens: a socket in the file system (LocalSocket in clamd.conf), or a host and port (TCPSocket).
enum ClamdAddress: Sendable {
    case local(FilePath)
    case remote(host: String, port: String)

    /// Reads an option: what has no slash and ends in a port is a host's.
    init(_ node: OptionNode, in context: OptionContext) throws(OptionProblem) {
        let text = try node.string()
        guard !text.isEmpty, !text.utf8.contains(0) else { throw node.problem("'\(text)' is not a path or HOST:PORT") }
        if !text.contains("/"), let colon = text.lastIndex(of: ":") {
            let port = String(text[colon...].dropFirst())
            guard let number = UInt16(port), number > 0, colon > text.startIndex else {
                throw node.problem("'\(text)' is not HOST:PORT; write one such as 127.0.0.1:3310, or a path")
            }
            let host = text[..<colon]
            let isBracketed = host.hasPrefix("[") && host.hasSuffix("]")
            self = .remote(host: String(isBracketed ? host.dropFirst().dropLast() : host), port: port)
        } else {
            self = .local(context.base.pushing(FilePath(text)).lexicallyNormalized())
        }
    }

    /// What messages call it.
    var path: FilePath {
        switch self {
        case .local(let path): path
        case .remote(let host, let port): FilePath("\(host):\(port)")
        }
    }

    /// A socket whose connection is begun, and may not be there yet; nothing on it blocks.
    func open() throws(IOError) -> Int32 {
        switch self {
        case .local(let path): try Self.openLocal(path)
        case .remote(let host, let port): try openRemote(host, port)
        }
    }

    private static func openLocal(_ path: FilePath) throws(IOError) -> Int32 {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.bytes
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw IOError("connect to", path, .fileNameTooLong)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        return try withUnsafePointer(to: &address) { (pointer) throws(IOError) in
            try pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { (pointer) throws(IOError) in
                try begin(AF_UNIX, pointer, size, path)
            }
        }
    }

    /// The first of the host's addresses that a connection can be begun to.
    private func openRemote(_ host: String, _ port: String) throws(IOError) -> Int32 {
        var hints = addrinfo()
        hints.ai_socktype = Int32(SOCK_STREAM.rawValue)
        hints.ai_flags = AI_NUMERICSERV
        var found: UnsafeMutablePointer<addrinfo>?
        guard getaddrinfo(host, port, &hints, &found) == 0 else { throw IOError("find", path, .noSuchAddressOrDevice) }
        defer { freeaddrinfo(found) }
        var failure = IOError("find", path, .noSuchAddressOrDevice)
        var next = found
        while let info = next?.pointee {
            do throws(IOError) {
                return try Self.begin(info.ai_family, info.ai_addr, info.ai_addrlen, path)
            } catch {
                failure = error
            }
            next = info.ai_next
        }
        throw failure
    }

    private static func begin(
        _ family: Int32, _ address: UnsafePointer<sockaddr>, _ size: socklen_t, _ path: FilePath
    ) throws(IOError) -> Int32 {
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue) | Int32(SOCK_NONBLOCK.rawValue)
        let descriptor = socket(family, type, 0)
        guard descriptor >= 0 else { throw IOError("connect to", path, .last) }
        if connect(descriptor, address, size) == 0 || Errno.last == .nowInProgress { return descriptor }
        let error = Errno.last
        close(descriptor)
        throw IOError("connect to", path, error)
    }
}
