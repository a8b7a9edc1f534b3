import Glibc
import PipelineKit
import SystemPackage

/// One question to clamd over its socket (clamd(8), "INSTREAM"): is this file clean?
struct ClamdClient: ~Copyable {
    /// What clamd says.
    enum Verdict: Equatable {
        case clean
        /// The name of what was found.
        case infected(String)
        /// The file is larger than clamd takes.
        case tooLarge
        /// Anything else: its own words.
        case trouble(String)
    }

    private let descriptor: Int32
    private let path: FilePath
    private let isStopped: () -> Bool

    private init(descriptor: Int32, path: FilePath, isStopped: @escaping () -> Bool) {
        self.descriptor = descriptor
        self.path = path
        self.isStopped = isStopped
    }

    deinit { close(descriptor) }

    /// How long one wait for the socket lasts: the longest until a stop is noticed.
    private static let tick: Int32 = 200
    /// The most bytes that are sent as one piece.
    private static let piece = 256 << 10

    /// Connects to a socket in the file system.
    static func connect(to path: FilePath, isStopped: @escaping () -> Bool) throws(IOError) -> ClamdClient {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = path.bytes
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else {
            throw IOError("connect to", path, .fileNameTooLong)
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        let type = Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        let descriptor = socket(AF_UNIX, type, 0)
        guard descriptor >= 0 else { throw IOError("connect to", path, .last) }
        let client = ClamdClient(descriptor: descriptor, path: path, isStopped: isStopped)
        let size = socklen_t(MemoryLayout<sockaddr_un>.size)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { Glibc.connect(descriptor, $0, size) }
        }
        guard result == 0 else { throw IOError("connect to", path, .last) }
        return client
    }

    /// Sends what a file holds and waits for the answer. `onProgress` is told the bytes of each piece.
    func scan(_ file: borrowing OpenFile, onProgress: (Int) -> Void) throws(IOError) -> Verdict {
        try send(Array("zINSTREAM\0".utf8))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece + 4, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[4...]))
            buffer.storeBytes(of: UInt32(count).bigEndian, as: UInt32.self)
            // An empty piece is the end. clamd may answer and close before that, where a file is too large for it.
            do throws(IOError) {
                try send(UnsafeRawBufferPointer(rebasing: buffer[..<(count + 4)]))
            } catch {
                guard [.brokenPipe, .connectionReset].contains(error.errno) else { throw error }
                break
            }
            if count == 0 { break }
            onProgress(count)
        }
        return Self.verdict(try answer())
    }

    /// `stream: OK`, `stream: NAME FOUND`, or an error.
    static func verdict(_ answer: String) -> Verdict {
        let text = answer.hasPrefix("stream: ") ? String(answer.dropFirst(8)) : answer
        if text == "OK" { return .clean }
        if text.hasSuffix(" FOUND") { return .infected(String(text.dropLast(6))) }
        return text.contains("size limit exceeded") ? .tooLarge : .trouble(text)
    }

    private func send(_ bytes: [UInt8]) throws(IOError) {
        var failure: IOError?
        bytes.withUnsafeBytes { buffer in
            do throws(IOError) { try send(buffer) } catch { failure = error }
        }
        if let failure { throw failure }
    }

    private func send(_ bytes: UnsafeRawBufferPointer) throws(IOError) {
        var rest = bytes
        while !rest.isEmpty {
            try wait(for: Int16(POLLOUT))
            let flags = Int32(MSG_NOSIGNAL) | Int32(MSG_DONTWAIT)
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, flags)
            if count > 0 {
                rest = UnsafeRawBufferPointer(rebasing: rest[count...])
            } else if ![.interrupted, .resourceTemporarilyUnavailable].contains(Errno.last) {
                throw IOError("send to", path, .last)
            }
        }
    }

    private func answer() throws(IOError) -> String {
        var text: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 1024)
        while text.last != 0, text.count < 1 << 16 {
            try wait(for: Int16(POLLIN))
            let count = retrying { recv(descriptor, &buffer, buffer.count, 0) }
            if count < 0 { throw IOError("read from", path, .last) }
            if count == 0 { break }
            text += buffer[..<count]
        }
        return String(decoding: text.prefix { $0 != 0 && $0 != 0x0A }, as: UTF8.self)
    }

    private func wait(for events: Int16) throws(IOError) {
        while true {
            if isStopped() { throw IOError("wait for", path, .canceled) }
            var poll = pollfd(fd: descriptor, events: events, revents: 0)
            let count = Glibc.poll(&poll, 1, Self.tick)
            if count > 0 { return }
            if count < 0, Errno.last != .interrupted { throw IOError("wait for", path, .last) }
        }
    }
}
