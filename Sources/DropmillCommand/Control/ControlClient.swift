import CLinux
import Files
import Glibc
import PipelineKit
import SystemPackage

/// Queries a running daemon.
enum ControlClient {
    struct Problem: Error, Equatable {
        let message: String
        /// Whether no answer came in time.
        var isLate = false
        /// Whether nobody is there to answer.
        var isAbsent = false
    }

    /// A starting daemon needs a moment between its lock and its socket.
    private static let attempts = 60
    /// Microseconds between two attempts.
    private static let pause: useconds_t = 50_000

    static func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, in folder: FilePath
    ) throws(Problem) -> Verb.Answer {
        let descriptor = ControlSocket.make(blocking: true)
        guard descriptor >= 0 else { throw problem("create a socket for", .last) }
        defer { close(descriptor) }
        let patience = verb.patience
        // A little less, to leave time before and after.
        var limit = timeval(tv_sec: patience - 1, tv_usec: 900_000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        try connect(descriptor, in: folder)
        let line: [UInt8]
        do throws(Problem) {
            let request = ControlRequest(id: 1, verb: verb.name, arguments: arguments)
            try send(ControlLine.bytes(of: request), to: descriptor)
            line = try receive(from: descriptor)
        } catch {
            if let stopped = stopped(descriptor) { throw stopped }
            guard error.isLate else { throw error }
            throw Problem(
                message: "the daemon is not responding: no answer within \(patience) s; its disks may be busy"
                    + (verb.isChange ? "; 'dropmill audit' shows whether the change was made" : ""))
        }
        guard let reply = ControlLine.message(ControlReply<Verb.Answer>.self, of: line) else {
            throw Problem(message: "the daemon's answer is malformed; it may be a different version, so restart it")
        }
        guard reply.version == ControlLine.version else {
            throw Problem(
                message: "the daemon speaks version \(reply.version ?? 1) of the control protocol, and this program "
                    + "version \(ControlLine.version); restart the daemon, so that both are the same")
        }
        guard let answer = reply.answer else {
            throw Problem(message: "the daemon says: \(EscapedText.printable(reply.problem ?? "nothing"))")
        }
        return answer
    }

    /// Whether a daemon is there that hears this user; nil if unknown, such as where this user may not reach it.
    static func isListening(in folder: FilePath) -> Bool? {
        let descriptor = ControlSocket.make(blocking: false)
        guard descriptor >= 0 else { return nil }
        defer { close(descriptor) }
        do throws(IOError) {
            if try ControlSocket.withAddress(in: folder, { Glibc.connect(descriptor, $0, $1) }) == 0 { return true }
        } catch {
            return nil
        }
        switch Errno.last {
        // Others wait before us.
        case .resourceTemporarilyUnavailable: return true
        case .noSuchFileOrDirectory, .connectionRefused: return false
        default: return nil
        }
    }

    private static func connect(_ descriptor: Int32, in folder: FilePath) throws(Problem) {
        for attempt in 1... {
            let connected: Int32
            do throws(IOError) {
                connected = try ControlSocket.withAddress(in: folder) { Glibc.connect(descriptor, $0, $1) }
            } catch {
                throw Problem(message: "\(error)")
            }
            if connected == 0 { return }
            let error = Errno.last
            let isAbsent = error == .noSuchFileOrDirectory || error == .connectionRefused
            guard isAbsent, attempt < attempts else { throw problem("reach", error) }
            usleep(pause)
        }
    }

    private static func send(_ bytes: [UInt8], to descriptor: Int32) throws(Problem) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 {
                if Errno.last == .interrupted { continue }
                throw problem("write to", .last)
            }
            rest = rest.dropFirst(count)
        }
    }

    private static func receive(from descriptor: Int32) throws(Problem) -> [UInt8] {
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while line.last != UInt8(ascii: "\n") {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count < 0, Errno.last == .interrupted { continue }
            guard count >= 0 else { throw problem("read from", .last) }
            guard count > 0, line.count < ControlLine.longestReply else {
                throw Problem(message: "the daemon closed the connection; it serves few clients at once, so try again")
            }
            line += piece[..<count]
        }
        return line
    }

    /// A stopped daemon does not answer until it is continued.
    private static func stopped(_ descriptor: Int32) -> Problem? {
        let process = dm_peer_process(descriptor)
        guard process > 0, ProcessFiles.isStopped(process) else { return nil }
        return Problem(
            message: "the daemon is not responding: process \(process) is stopped; kill -CONT \(process) resumes it")
    }

    private static func problem(_ action: String, _ error: Errno) -> Problem {
        switch error {
        case .permissionDenied:
            Problem(
                message:
                    "the running daemon does not answer this user; run this as the daemon's user, as root, or as a "
                    + "member of its 'control_group'")
        case .noSuchFileOrDirectory, .connectionRefused:
            Problem(
                message: "the running daemon does not answer; it may be starting, stopping or an older version",
                isAbsent: true)
        case .resourceTemporarilyUnavailable, .wouldBlock:
            Problem(message: "the daemon is not responding", isLate: true)
        default: Problem(message: "cannot \(action) the running daemon: \(error)")
        }
    }
}
