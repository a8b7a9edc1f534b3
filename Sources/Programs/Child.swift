import Glibc
import SystemPackage

/// A program while it runs: its pipes are emptied into files, its end is waited for, and it is told to stop where it
/// has to. It is seen through its keeper (see CLinuxKeeper.h).
struct Child {
    private let keeper: pid_t
    /// The pipes, and after them the lifeline, whose other end closes with the keeper's end.
    private var streams: [pollfd]
    private let files: [CappedFile]
    /// What the keeper has told: two ints, the program's process id and its status as of wait(2).
    private var told: [UInt8] = []
    private var buffer = [UInt8](repeating: 0, count: 64 << 10)

    /// How long one wait lasts, in milliseconds: the longest until a stop is noticed.
    private static let tick: Int32 = 50
    /// So many buffers hold more than any pipe does (1 MiB, /proc/sys/fs/pipe-max-size).
    private static let mostRounds = 32

    /// A child that writes to pipes, each of which has a file. All descriptors are closed in the end.
    init(keeper: pid_t, lifeline: Int32, pipes: [Int32], files: [CappedFile]) {
        self.keeper = keeper
        self.files = files
        streams = (pipes + [lifeline]).map { pollfd(fd: $0, events: Int16(POLLIN), revents: 0) }
    }

    /// Waits for the end; tells the last `tail` bytes of what it wrote.
    mutating func supervise(
        grace: Duration, tail: Int, wrote: () -> Void, isStopped: () -> Bool
    ) -> Program.Outcome {
        defer { for stream in streams where stream.fd >= 0 { close(stream.fd) } }
        var stoppedAt: ContinuousClock.Instant?
        var wasKilled = false
        var isOffered = false
        while !hasEnded {
            if readSome(within: Self.tick) { wrote() }
            if !isOffered, let program = int(at: 0) {
                Self.offer(program)
                isOffered = true
            }
            if let asked = stoppedAt {
                if !wasKilled, ContinuousClock.now - asked >= grace {
                    sendSignal(SIGKILL)
                    wasKilled = true
                }
            } else if isStopped() {
                stoppedAt = .now
                sendSignal(SIGTERM)
            }
        }
        let end = reap()
        // What the pipes hold still. Not to their end: what runs with another user's rights cannot be killed.
        var rounds = 0
        while rounds < Self.mostRounds, readSome(within: 0) { rounds += 1 }
        let written = files.map { Program.Written(tail: $0.tail(tail), count: $0.count, failure: $0.failure) }
        return Program.Outcome(end: end, output: written[0], error: written[1], wasStopped: stoppedAt != nil)
    }

    /// Where memory is short the kernel ends the program rather than the daemon (proc(5), oom_score_adj). What runs
    /// with another user's rights stays as it is.
    private static func offer(_ program: pid_t) {
        let file = open("/proc/\(program)/oom_score_adj", O_WRONLY | O_CLOEXEC)
        guard file >= 0 else { return }
        _ = write(file, "1000", 4)
        close(file)
    }

    private var hasEnded: Bool { streams[files.count].fd < 0 }

    /// Has the keeper send this to the program's group.
    private func sendSignal(_ number: Int32) {
        var byte = UInt8(number)
        send(streams[files.count].fd, &byte, 1, Int32(MSG_NOSIGNAL))
    }

    /// Reads what there is, and notices the end; false where nothing came.
    @discardableResult
    private mutating func readSome(within milliseconds: Int32) -> Bool {
        guard poll(&streams, nfds_t(streams.count), milliseconds) > 0 else { return false }
        var came = false
        for index in streams.indices where streams[index].fd >= 0 && streams[index].revents != 0 {
            let count = buffer.withUnsafeMutableBytes { read(streams[index].fd, $0.baseAddress, $0.count) }
            if count > 0, index < files.count {
                buffer.withUnsafeBytes { files[index].add(UnsafeRawBufferPointer(rebasing: $0[..<count])) }
                came = true
            } else if count > 0 {
                told += buffer[..<count]
            } else if count == 0 || errno != EINTR {
                close(streams[index].fd)
                streams[index].fd = -1
            }
        }
        return came
    }

    /// How the program ended, as the keeper has told.
    private func reap() -> Program.Outcome.End {
        while waitpid(keeper, nil, 0) == -1, errno == EINTR {}
        guard let status = int(at: 1) else {
            // Somebody killed the keeper, and the kernel the program with it. The number cannot be another's so soon,
            // and is not given away while the group has members.
            if let program = int(at: 0), program > 1 { kill(-program, SIGKILL) }
            return .lost
        }
        // WIFSIGNALED and friends are macros.
        let signal = status & 0x7F
        return signal == 0 ? .exited((status >> 8) & 0xFF) : .signalled(signal)
    }

    private func int(at index: Int) -> Int32? {
        let size = MemoryLayout<Int32>.size
        guard told.count >= (index + 1) * size else { return nil }
        return told.withUnsafeBytes { $0.loadUnaligned(fromByteOffset: index * size, as: Int32.self) }
    }
}
