import CLinux
import Glibc
package import SystemPackage

/// Why a helper gave no result.
package enum HelperFailure: Error, Sendable, Equatable {
    /// The archive is bad, or what is around it.
    case archive(ArchiveError)
    /// It could not be started; `noChildProcess`: it was gone before it began, each time.
    case unavailable(Errno)
    /// It ended by itself: by that signal, or with that status where it is 0; and what it wrote last.
    case crashed(signal: Int32, status: Int32, log: String)
    /// It took longer than it may.
    case overTime(seconds: Int64)
    /// It used more of the processors than it may.
    case overCPU
    /// It said something that no helper says.
    case confused
    /// It could not be confined as was required; with what is missing.
    case unconfined(String)
    /// The work was called off.
    case cancelled
}

/// One helper, started and waiting for its one archive. It is killed when this goes.
final class HelperProcess: Sendable {
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

    /// Gives the helper its archive; false where it is gone already.
    func send(_ request: UnpackRequest, archive: Int32, folder: Int32) throws(HelperFailure) -> Bool {
        let packet = request.packet
        guard packet.count <= UnpackRequest.mostBytes else { throw .unavailable(.invalidArgument) }
        if dm_send_packet(channel, packet, packet.count, [archive, folder], 2) == packet.count { return true }
        let error = Errno(rawValue: errno)
        if error == .brokenPipe || error == .connectionReset { return false }
        throw .unavailable(error)
    }

    /// The next message, waiting so many milliseconds at most: nil if none came. `.some(nil)`: the helper has ended.
    func receive(within milliseconds: Int32) throws(HelperFailure) -> HelperMessage?? {
        var waiting = pollfd(fd: channel, events: Int16(POLLIN), revents: 0)
        let ready = poll(&waiting, 1, milliseconds)
        if ready == 0 || ready < 0 && errno == EINTR { return nil }
        guard ready > 0 else { throw .unavailable(Errno(rawValue: errno)) }
        var buffer = [UInt8](repeating: 0, count: HelperMessage.mostBytes)
        var descriptors: (Int32, Int32, Int32, Int32) = (-1, -1, -1, -1)
        var count: Int32 = 0
        let received = withUnsafeMutableBytes(of: &descriptors) { raw in
            dm_receive_packet(
                channel, &buffer, buffer.count, raw.baseAddress?.assumingMemoryBound(to: Int32.self), &count)
        }
        // No helper sends descriptors.
        for descriptor in [descriptors.0, descriptors.1, descriptors.2, descriptors.3].prefix(Int(count)) {
            close(descriptor)
        }
        if received == 0 || received < 0 && errno == ECONNRESET { return .some(nil) }
        guard received > 0, count == 0, let message = HelperMessage(packet: buffer[..<received]) else {
            throw .confused
        }
        return message
    }

    /// How it ended, now that it has closed its end of the conversation: by itself, or if it does not, by us.
    func ending() -> HelperFailure {
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
        if status == SIGXCPU { return .overCPU }
        return .crashed(signal: status > 0 ? status : 0, status: status <= 0 ? -status : 0, log: lastWords())
    }

    private func lastWords() -> String {
        var bytes = [UInt8](repeating: 0, count: 4096)
        let count = read(log, &bytes, bytes.count)
        return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
    }
}
