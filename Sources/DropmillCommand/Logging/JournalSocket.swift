import CLinux
import Glibc
import PipelineConfig
import Synchronization
import SystemPackage

/// The socket on which the system's journal takes entries. Where it cannot be reached they go to a descriptor as lines,
/// after one warning. Used by one queue.
final class JournalSocket: Sendable {
    private let path: FilePath
    private let descriptor: Int32
    private let socket: Int32
    private let hasWarned = Mutex(false)

    /// `orElse`: where lines go instead.
    init(_ path: FilePath = "/run/systemd/journal/socket", orElse descriptor: Int32) {
        (self.path, self.descriptor) = (path, descriptor)
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        connect()
    }

    deinit { close(socket) }

    /// Whether standard error leads to the journal (systemd.exec(5), `JOURNAL_STREAM`).
    static var isStandardError: Bool {
        var status = stat()
        guard let stream = Environment.variables["JOURNAL_STREAM"], fstat(STDERR_FILENO, &status) == 0 else {
            return false
        }
        return stream == "\(status.st_dev):\(status.st_ino)"
    }

    /// Sends packed entries, in order.
    func send(_ packed: [UInt8]) {
        for entry in JournalEntry.unpacked(packed) where !send(entry) {
            let error = Errno.last
            let isNews = hasWarned.withLock { hasWarned in
                defer { hasWarned = true }
                return !hasWarned
            }
            if isNews {
                let warning =
                    "<4>cannot write to the system's journal at \(path): \(error); log lines come here instead\n"
                _ = LogOutput.write(Array(warning.utf8), to: descriptor)
            }
            _ = LogOutput.write(entry.line, to: descriptor)
        }
    }

    /// Returns once the journal has dealt with what it was sent, or after `limit`. Which unit an entry belongs to it
    /// looks up at the process, which has to be there still: else `systemctl status` does not show why it has ended.
    func settle(within limit: Duration) {
        let end = ContinuousClock.now + limit
        // Says nothing, and is read only after what came before has been dealt with.
        while Glibc.send(socket, nil, 0, Int32(MSG_DONTWAIT | MSG_NOSIGNAL)) != 0 {
            guard Errno.last == .resourceTemporarilyUnavailable, ContinuousClock.now < end else { return }
            usleep(1000)
        }
        Self.awaitReader(of: socket, until: end)
    }

    /// Returns once all that was written to a socket is read, or at that time.
    static func awaitReader(of socket: Int32, until end: ContinuousClock.Instant) {
        var unread: Int32 = 0
        // The kernel has no event for it.
        while ioctl(socket, UInt(TIOCOUTQ), &unread) == 0, unread > 0, ContinuousClock.now < end { usleep(1000) }
    }

    private func send(_ entry: JournalEntry) -> Bool {
        if put(entry.bytes) { return true }
        switch Errno.last {
        case .messageTooLong, .noBufferSpace:
            // One that is too large for a packet goes along as a file.
            var memory = dm_sealed_memory(entry.bytes, entry.bytes.count)
            guard memory >= 0 else { return false }
            defer { close(memory) }
            return dm_send_packet(socket, nil, 0, &memory, 1) >= 0
        case .connectionRefused, .socketNotConnected, .noSuchFileOrDirectory:
            // journald was started again.
            connect()
            return put(entry.bytes)
        default: return false
        }
    }

    private func put(_ bytes: [UInt8]) -> Bool { dm_send_packet(socket, bytes, bytes.count, nil, 0) >= 0 }

    private func connect() {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        let bytes = Array(path.string.utf8)
        guard bytes.count < MemoryLayout.size(ofValue: address.sun_path) else { return }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: bytes) }
        _ = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                Glibc.connect(socket, $0, socklen_t(MemoryLayout<sockaddr_un>.size))
            }
        }
    }
}
