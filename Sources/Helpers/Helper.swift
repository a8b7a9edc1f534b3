import CLinux
import Glibc
package import SystemPackage

/// One helper, started and waiting to be asked. It is killed when this goes.
package final class Helper: Sendable {
    /// What came from a helper.
    package enum Received: Sendable, Equatable {
        /// Nothing within the time.
        case nothing
        case packet([UInt8])
        /// More than a packet may hold, or descriptors: no helper of ours sends them.
        case nonsense
        /// It has closed its end of the conversation.
        case end
    }

    /// How one ended: by that signal, or with that status where it is 0; and what it wrote last.
    package struct Ending: Sendable, Equatable {
        /// The signal, or 0.
        package let signal: Int32
        /// The exit status where there was no signal.
        package let status: Int32
        /// The end of what it wrote to its standard error.
        package let log: String
    }

    private let process: pid_t
    private let channel: Int32
    private let log: Int32

    /// A child of this process, and our ends of the ways to it; all three are given away.
    init(process: pid_t, channel: Int32, log: Int32) {
        self.process = process
        self.channel = channel
        self.log = log
    }

    deinit {
        // It is our child, and not waited for before: the number cannot be another's.
        Children.end(process)
        close(channel)
        close(log)
    }

    /// Sends it a packet, with up to 4 descriptors; false where it is gone already.
    package func send(_ packet: [UInt8], _ descriptors: [Int32]) throws(Errno) -> Bool {
        let sent = dm_send_packet(channel, packet, packet.count, descriptors, Int32(clamping: descriptors.count))
        if sent == packet.count { return true }
        let error = Errno(rawValue: errno)
        if error == .brokenPipe || error == .connectionReset { return false }
        throw error
    }

    /// What comes next, waiting so many milliseconds at most.
    package func receive(atMost bytes: Int, within milliseconds: Int32) throws(Errno) -> Received {
        var waiting = pollfd(fd: channel, events: Int16(POLLIN), revents: 0)
        let ready = poll(&waiting, 1, milliseconds)
        if ready == 0 || ready < 0 && errno == EINTR { return .nothing }
        guard ready > 0 else { throw Errno(rawValue: errno) }
        var buffer = [UInt8](repeating: 0, count: bytes)
        var descriptors: [Int32] = [-1, -1, -1, -1]
        var count: Int32 = 0
        let received = dm_receive_packet(channel, &buffer, buffer.count, &descriptors, &count)
        let error = errno
        for descriptor in descriptors.prefix(Int(count)) { close(descriptor) }
        if received == 0 || received < 0 && error == ECONNRESET { return .end }
        guard received > 0, count == 0 else { return .nonsense }
        return .packet(Array(buffer.prefix(received)))
    }

    /// How it ended, now that it has closed its end of the conversation: by itself, or if it does not, by us.
    package func ending() -> Ending {
        var info = siginfo_t()
        var rounds = 0
        // Left to be waited for, so that its number stays its own.
        while waitid(P_PID, id_t(process), &info, WEXITED | WNOHANG | WNOWAIT) == 0, info.si_signo == 0 {
            rounds += 1
            if rounds == 1000 { kill(process, SIGKILL) }
            if rounds > 10_000 { break }
            poll(nil, 0, 1)
        }
        let status = dm_ended_by(&info)
        return Ending(signal: max(0, status), status: status <= 0 ? -status : 0, log: lastWords())
    }

    private func lastWords() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(log, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
