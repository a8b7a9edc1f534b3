import Glibc
import SystemPackage

/// A program while it runs: its pipes are emptied into files, its end is waited for, and it is told to stop where it
/// has to.
struct Child {
    private let process: pid_t
    private var streams: [pollfd]
    private let files: [CappedFile]
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// How long one wait lasts, in milliseconds: the longest until a stop is noticed.
    private static let tick: Int32 = 50

    /// A child that writes to pipes, each of which has a file. The pipes are closed in the end.
    init(process: pid_t, pipes: [Int32], files: [CappedFile]) {
        self.process = process
        self.files = files
        streams = pipes.map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }

    /// Waits for the end; tells the last `tail` bytes of what it wrote.
    mutating func supervise(grace: Duration, tail: Int, isStopped: () -> Bool) -> Program.Outcome {
        defer { for stream in streams where stream.fd >= 0 { close(stream.fd) } }
        var stoppedAt: ContinuousClock.Instant?
        var wasKilled = false
        while !hasEnded(waiting: !isReading) {
            readSome(within: Self.tick)
            if let asked = stoppedAt {
                if !wasKilled, ContinuousClock.now - asked >= grace {
                    kill(-process, SIGKILL)
                    wasKilled = true
                }
            } else if isStopped() {
                stoppedAt = .now
                kill(-process, SIGTERM)
            }
        }
        // Nothing of its group stays behind. It is not reaped yet, so no other process can have the number.
        kill(-process, SIGKILL)
        while isReading, readSome(within: 0) {}
        let written = files.map { Program.Written(tail: $0.tail(tail), count: $0.count, failure: $0.failure) }
        return Program.Outcome(end: reap(), output: written[0], error: written[1], wasStopped: stoppedAt != nil)
    }

    private var isReading: Bool { streams.contains { $0.fd >= 0 } }

    /// Whether the process is over; it is left to be reaped. With nothing to read one tick is waited here.
    private func hasEnded(waiting: Bool) -> Bool {
        var information = siginfo_t()
        let result = waitid(P_PID, id_t(process), &information, WEXITED | WNOHANG | WNOWAIT)
        // Nobody else waits for our children; if somebody did, there is nothing left to wait for.
        if result != 0 { return errno != EINTR }
        if information.si_signo == SIGCHLD { return true }
        if waiting { poll(nil, 0, Self.tick) }
        return false
    }

    /// Reads what there is; false where nothing came.
    @discardableResult
    private mutating func readSome(within milliseconds: Int32) -> Bool {
        guard isReading, poll(&streams, nfds_t(streams.count), milliseconds) > 0 else { return false }
        var came = false
        for index in streams.indices where streams[index].fd >= 0 && streams[index].revents != 0 {
            let count = buffer.withUnsafeMutableBytes { read(streams[index].fd, $0.baseAddress, $0.count) }
            if count > 0 {
                buffer.withUnsafeBytes { files[index].add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                came = true
            } else if count == 0 || errno != EINTR {
                close(streams[index].fd)
                streams[index].fd = -1
            }
        }
        return came
    }

    private func reap() -> Program.Outcome.End {
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
        // WIFSIGNALED and friends are macros.
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }
}
