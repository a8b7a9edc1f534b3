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
        /// Whether it answers other users only.
        var isForbidden = false
        /// Whether nothing was taken, because the daemon serves as many as it can.
        var isCrowded = false
    }

    /// A starting daemon needs a moment between its lock and its socket.
    private static let attempts = 60
    /// Microseconds between two attempts.
    private static let pause: useconds_t = 50_000
    /// Microseconds until it is tried again where the daemon serves others: at most, since those who come together
    /// should not come back together.
    private static let longestPauses: [useconds_t] = [100_000, 200_000, 400_000, 800_000, 1_600_000, 1_600_000]
    /// Milliseconds without an answer, after which that is looked into.
    private static let glance: Int32 = 2000

    /// `whenLate` is called when a change takes long, with how many seconds it may.
    static func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, in folder: FilePath, whenLate: (Int) -> Void = { _ in }
    ) throws(Problem) -> Verb.Answer {
        for longest in longestPauses {
            do throws(Problem) {
                return try askOnce(verb, arguments, in: folder, whenLate)
            } catch {
                guard error.isCrowded else { throw error }
            }
            usleep(.random(in: longest / 2...longest))
        }
        return try askOnce(verb, arguments, in: folder, whenLate)
    }

    private static func askOnce<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, in folder: FilePath, _ whenLate: (Int) -> Void
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
            let isSent = try send(ControlLine.bytes(of: request), to: descriptor)
            if verb.isChange, !isAnswered(descriptor, within: glance) {
                // It may stay so for ever.
                if let stopped = stopped(descriptor, verb) { throw stopped }
                whenLate(patience)
            }
            line = try receive(from: descriptor, isSent: isSent)
        } catch {
            if let stopped = stopped(descriptor, verb) { throw stopped }
            guard error.isLate else { throw error }
            throw Problem(
                message: "the daemon is not responding: no answer within \(patience) s; its disks may be busy"
                    + afterwards(verb))
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
            throw Problem(
                message: "the daemon says: \(EscapedText.printable(reply.problem ?? "nothing"))",
                isForbidden: reply.forbidden == true, isCrowded: reply.again == true)
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

    /// Whether all of it was sent. One that closes before that has said why.
    private static func send(_ bytes: [UInt8], to descriptor: Int32) throws(Problem) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.send(descriptor, $0.baseAddress, $0.count, Int32(MSG_NOSIGNAL)) }
            if count < 0 {
                if Errno.last == .interrupted { continue }
                if Errno.last == .brokenPipe { return false }
                throw problem("write to", .last)
            }
            rest = rest.dropFirst(count)
        }
        return true
    }

    private static func isAnswered(_ descriptor: Int32, within milliseconds: Int32) -> Bool {
        var look = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        return poll(&look, 1, milliseconds) != 0
    }

    /// `isSent`: whether the daemon may have taken the request.
    private static func receive(from descriptor: Int32, isSent: Bool) throws(Problem) -> [UInt8] {
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while line.last != UInt8(ascii: "\n") {
            let count = recv(descriptor, &piece, piece.count, 0)
            if count < 0, Errno.last == .interrupted { continue }
            let isClosed = count == 0 || count < 0 && Errno.last == .connectionReset
            guard isClosed || count > 0 else { throw problem("read from", .last) }
            guard !isClosed, line.count < ControlLine.longestReply else {
                throw Problem(
                    message: isSent
                        ? "the daemon closed the connection before it answered; 'dropmill status' says whether it runs"
                        : "the daemon closed the connection; it serves few clients at once, so try again",
                    isCrowded: !isSent)
            }
            line += piece[..<count]
        }
        return line
    }

    /// A stopped daemon does not answer until it is continued.
    private static func stopped<Verb: ControlVerb>(_ descriptor: Int32, _ verb: Verb.Type) -> Problem? {
        let process = dm_peer_process(descriptor)
        guard process > 0, ProcessFiles.isStopped(process) else { return nil }
        return Problem(
            message: "the daemon is not responding: process \(process) is stopped; kill -CONT \(process) resumes it"
                + afterwards(verb))
    }

    /// What is sent stays sent.
    private static func afterwards<Verb: ControlVerb>(_ verb: Verb.Type) -> String {
        verb.isChange ? "; it may still make the change, which 'dropmill audit' then lists" : ""
    }

    private static func problem(_ action: String, _ error: Errno) -> Problem {
        switch error {
        case .permissionDenied:
            Problem(
                message:
                    "the running daemon does not answer this user; run this as the daemon's user, as root, or as a "
                    + "member of its 'control_group'", isForbidden: true)
        case .notDirectory: Problem(message: "the state folder is no folder; name another with --state-dir")
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
