import Files
import Glibc
import SystemPackage

/// One question to clamd over its socket (clamd(8)): is this file clean?
struct ClamdClient: ~Copyable {
    enum Verdict: Equatable {
        case clean
        /// The name of what was found.
        case infected(String)
        /// The file is larger, or holds more, than clamd looks at.
        case tooLarge
        /// Anything else: its own words.
        case trouble(String)
    }

    private let descriptor: Int32
    private let path: FilePath
    private let patience: Duration
    private let isStopped: () -> Bool

    private init(descriptor: Int32, path: FilePath, patience: Duration, isStopped: @escaping () -> Bool) {
        self.descriptor = descriptor
        self.path = path
        self.patience = patience
        self.isStopped = isStopped
    }

    deinit { close(descriptor) }

    /// How long one wait for the socket lasts, in milliseconds: the longest until a stop is noticed.
    private static let tick: Int32 = 200
    /// The most bytes that are sent as one piece.
    private static let piece = 256 << 10

    /// Connects to clamd. Errors name the address as their path; `patience` is how long nothing may come from it.
    static func connect(
        to address: ClamdAddress, patience: Duration, isStopped: @escaping () -> Bool
    ) throws(IOError) -> ClamdClient {
        let client = ClamdClient(
            descriptor: try open(address, patience, isStopped), path: address.path, patience: patience,
            isStopped: isStopped)
        try client.wait(for: Int16(POLLOUT))
        var error: Int32 = 0
        var size = socklen_t(MemoryLayout<Int32>.size)
        guard getsockopt(client.descriptor, SOL_SOCKET, SO_ERROR, &error, &size) == 0, error == 0 else {
            throw IOError("connect to", client.path, error == 0 ? .last : Errno(rawValue: error))
        }
        return client
    }

    /// A Unix socket whose queue is full is busy, not away.
    private static func open(
        _ address: ClamdAddress, _ patience: Duration, _ isStopped: () -> Bool
    ) throws(IOError) -> Int32 {
        let begun = ContinuousClock.now
        while true {
            do throws(IOError) {
                return try address.open()
            } catch {
                guard error.errno == .resourceTemporarilyUnavailable, !isStopped(),
                    ContinuousClock.now - begun < patience
                else { throw error }
                poll(nil, 0, tick)
            }
        }
    }

    /// What clamd is, in its own words (VERSION).
    func version() throws(IOError) -> String {
        try send(Array("zVERSION\0".utf8))
        return try answer()
    }

    /// Hands clamd the open file (FILDES) and waits for the answer.
    func look(at file: borrowing OpenFile) throws(IOError) -> Verdict {
        try send(Array("zFILDES\0".utf8))
        try wait(for: Int16(POLLOUT))
        do throws(Errno) { try file.hand(over: descriptor) } catch { throw IOError("send to", path, error) }
        return Self.verdict(try answer())
    }

    /// Sends what a file holds (INSTREAM) and waits for the answer. `onProgress` is told the bytes of each piece.
    func scan(_ file: borrowing OpenFile, onProgress: (Int) -> Void) throws(IOError) -> Verdict {
        try send(Array("zINSTREAM\0".utf8))
        let buffer = UnsafeMutableRawBufferPointer.allocate(byteCount: Self.piece + 4, alignment: 16)
        defer { buffer.deallocate() }
        while true {
            let count = try file.read(into: UnsafeMutableRawBufferPointer(rebasing: buffer[4...]))
            buffer.storeBytes(of: UInt32(count).bigEndian, as: UInt32.self)
            // An empty piece is the end. clamd may answer and close before that, where a file is too large for it; what
            // it did not get it cannot call clean.
            do throws(IOError) {
                try send(UnsafeRawBufferPointer(rebasing: buffer[..<(count + 4)]))
            } catch {
                guard [.brokenPipe, .connectionReset].contains(error.errno) else { throw error }
                let verdict = Self.verdict(try answer())
                return verdict == .clean ? .trouble("it closed the connection too early") : verdict
            }
            if count == 0 { break }
            onProgress(count)
        }
        return Self.verdict(try answer())
    }

    /// `stream: OK` or `fd[12]: OK`, `stream: NAME FOUND`, or an error.
    static func verdict(_ answer: String) -> Verdict {
        var text = answer[...]
        if answer.hasPrefix("stream: ") || answer.hasPrefix("fd["), let colon = answer.firstIndex(of: ":") {
            text = answer[colon...].dropFirst(2)
        }
        if text == "OK" { return .clean }
        if text.hasSuffix(" FOUND") {
            // With AlertExceedsMax clamd says so of what it did not look at whole.
            if text.hasPrefix("Heuristics.Limits.Exceeded") { return .tooLarge }
            return .infected(String(text.dropLast(6)))
        }
        return text.contains("size limit exceeded") ? .tooLarge : .trouble(String(text))
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
            let count = Glibc.send(descriptor, rest.baseAddress, rest.count, Int32(MSG_NOSIGNAL))
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
            if count < 0 {
                if Errno.last == .resourceTemporarilyUnavailable { continue }
                throw IOError("read from", path, .last)
            }
            if count == 0 { break }
            text += buffer[..<count]
        }
        return String(decoding: text.prefix { $0 != 0 && $0 != 0x0A }, as: UTF8.self)
    }

    private func wait(for events: Int16) throws(IOError) {
        let begun = ContinuousClock.now
        while true {
            if isStopped() { throw IOError("wait for", path, .canceled) }
            if ContinuousClock.now - begun > patience { throw IOError("wait for", path, .timedOut) }
            var poll = pollfd(fd: descriptor, events: events, revents: 0)
            let count = Glibc.poll(&poll, 1, Self.tick)
            if count > 0 { return }
            if count < 0, Errno.last != .interrupted { throw IOError("wait for", path, .last) }
        }
    }
}
