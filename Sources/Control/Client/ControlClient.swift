import CLinux
import Files
import Glibc
package import Journal
import PipelineKit
package import SystemPackage

/// Queries a running daemon.
package enum ControlClient {
    package struct Problem: Error, Equatable {
        package let message: String
        /// Whether no answer came in time.
        package var isLate = false
        /// Whether a daemon has said so, or said something.
        package var isAnswer = false
        /// Whether nobody is there to answer.
        package var isAbsent = false
        /// Whether it answers other users only.
        package var isForbidden = false
        /// Whether nothing was taken, because the daemon serves as many as it can.
        package var isCrowded = false

        package init(
            message: String, isLate: Bool = false, isAnswer: Bool = false, isAbsent: Bool = false,
            isForbidden: Bool = false, isCrowded: Bool = false
        ) {
            self.message = message
            self.isLate = isLate
            self.isAnswer = isAnswer
            self.isAbsent = isAbsent
            self.isForbidden = isForbidden
            self.isCrowded = isCrowded
        }
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

    /// `whenLate` is called when a change takes long, with how many seconds it may; `behalf`: for whom it is asked.
    package static func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, for behalf: Behalf? = nil, in folder: FilePath,
        whenLate: (Int) -> Void = { _ in }
    ) throws(Problem) -> Verb.Answer {
        try tryingAgain { () throws(Problem) in
            let descriptor = try connect(in: folder)
            defer { close(descriptor) }
            return try exchange(verb, arguments, for: behalf, on: descriptor, whenLate)
        }
    }

    /// Does it again for a while where the daemon serves as many as it can.
    static func tryingAgain<Answer>(_ body: () throws(Problem) -> Answer) throws(Problem) -> Answer {
        for longest in longestPauses {
            do throws(Problem) {
                return try body()
            } catch {
                guard error.isCrowded else { throw error }
            }
            usleep(.random(in: longest / 2...longest))
        }
        return try body()
    }

    /// A connection to the daemon of this state folder. Who asked for it closes it.
    static func connect(in folder: FilePath) throws(Problem) -> Int32 {
        let descriptor = ControlSocket.make(blocking: true)
        guard descriptor >= 0 else { throw problem("create a socket for", .last) }
        do throws(Problem) {
            try connect(descriptor, in: folder)
        } catch {
            close(descriptor)
            throw error
        }
        return descriptor
    }

    /// One request with its answer. `file`: gets the descriptor that comes with that; who asked for it closes it.
    static func exchange<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, for behalf: Behalf? = nil, on descriptor: Int32,
        _ whenLate: (Int) -> Void = { _ in },
        taking file: UnsafeMutablePointer<Int32>? = nil
    ) throws(Problem) -> Verb.Answer {
        let patience = verb.patience
        // A little less, to leave time before and after.
        var limit = timeval(tv_sec: patience - 1, tv_usec: 900_000)
        for option in [SO_RCVTIMEO, SO_SNDTIMEO] {
            setsockopt(descriptor, SOL_SOCKET, option, &limit, socklen_t(MemoryLayout<timeval>.size))
        }
        let line: [UInt8]
        do throws(Problem) {
            let request = ControlRequest(id: 1, verb: verb.name, arguments: arguments, for: behalf)
            let isSent = try send(ControlLine.bytes(of: request), to: descriptor)
            if verb.isChange, !isAnswered(descriptor, within: glance) {
                // It may stay so for ever.
                if let stopped = stopped(descriptor, verb) { throw stopped }
                whenLate(patience)
            }
            line = try receive(from: descriptor, isSent: isSent, taking: file)
        } catch {
            if let stopped = stopped(descriptor, verb) { throw stopped }
            guard error.isLate else { throw error }
            throw Problem(
                message: "the daemon is not responding: no answer within \(patience) s; its disks may be busy"
                    + afterwards(verb))
        }
        return try answer(of: verb, in: line)
    }

    /// What a line says, however it came.
    package static func answer<Verb: ControlVerb>(of verb: Verb.Type, in line: [UInt8]) throws(Problem) -> Verb.Answer {
        guard let reply = ControlLine.message(ControlReply<Verb.Answer>.self, of: line) else {
            throw Problem(
                message: "the daemon's answer is malformed; it may be a different version, so restart it",
                isAnswer: true)
        }
        guard reply.version == ControlLine.version else {
            throw Problem(
                message: "the daemon speaks version \(reply.version ?? 1) of the control protocol, and this program "
                    + "version \(ControlLine.version); restart the daemon, so that both are the same", isAnswer: true)
        }
        guard let answer = reply.answer else {
            throw Problem(
                message: "the daemon says: \(EscapedText.printable(reply.problem ?? "nothing"))", isAnswer: true,
                isForbidden: reply.forbidden == true, isCrowded: reply.again == true)
        }
        return answer
    }

    /// Whether a daemon is there that hears this user; nil if unknown, such as where this user may not reach it.
    package static func isListening(in folder: FilePath) -> Bool? {
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
    private static func receive(
        from descriptor: Int32, isSent: Bool, taking file: UnsafeMutablePointer<Int32>?
    ) throws(Problem) -> [UInt8] {
        var line: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 64 << 10)
        while line.last != UInt8(ascii: "\n") {
            let count: Int
            // It comes with the first byte.
            if let file, line.isEmpty {
                count = dm_receive_descriptor(descriptor, &piece, piece.count, file)
            } else {
                count = recv(descriptor, &piece, piece.count, 0)
            }
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
