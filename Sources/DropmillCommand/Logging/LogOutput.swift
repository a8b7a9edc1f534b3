import Dispatch
import Glibc
import Synchronization

/// Where log lines go: one descriptor, written by one serial queue, so that logging does not wait for a terminal
/// or a pipe. A line that comes alone is written at once; what comes within `pause` of a write goes out together with
/// the next, since in a burst a write and its wake-up cost more than the line. Nothing is dropped while the program is
/// at work: when very much is waiting, the caller waits too. Its end does not hang on a reader that does not read.
final class LogOutput: Sendable {
    private struct State {
        var waiting: [UInt8] = []
        var isScheduled = false
        var mayWait = true
        /// The line that is redrawn in place, and what of it is on the screen.
        var status: [UInt8] = []
        var shown: [UInt8] = []
    }

    private static let mostWaiting = 4 << 20
    /// Microseconds between two writes; what a crash in a burst may cost.
    private static let pause: UInt32 = 2000
    /// How often a waiting caller checks whether to keep waiting.
    private static let glance = DispatchTimeInterval.milliseconds(100)
    private static let eraseLine = Array("\r\u{1B}[K".utf8)

    private let descriptor: Int32
    private let journal: JournalSocket?
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "dropmill.log")

    /// `journal`: where entries go instead, packed as of `JournalEntry`.
    init(descriptor: Int32, journal: JournalSocket? = nil) {
        self.descriptor = descriptor
        self.journal = journal
    }

    var isTerminal: Bool { isatty(descriptor) == 1 }

    /// Whether what is written are entries of the system's journal.
    var isJournal: Bool { journal != nil }

    /// Columns of the terminal, 80 where it does not say.
    var width: Int {
        var size = winsize()
        guard ioctl(descriptor, UInt(TIOCGWINSZ), &size) == 0, size.ws_col > 0 else { return 80 }
        return Int(size.ws_col)
    }

    /// Writes lines; they end with a newline.
    func write(_ lines: [UInt8]) {
        let waiting = state.withLock { state in
            state.waiting += lines
            schedule(&state)
            return state.waiting.count
        }
        guard waiting > Self.mostWaiting else { return }
        let drained = drained()
        while drained.wait(timeout: .now() + Self.glance) == .timedOut, state.withLock({ $0.mayWait }) {}
    }

    /// From now on logging does not wait, however much is unwritten: the program is about to end.
    func stopWaiting() { state.withLock { $0.mayWait = false } }

    /// Shows a line below all others that is replaced by the next one; an empty one takes it away. Only for terminals.
    func show(status: [UInt8]) {
        state.withLock { state in
            guard state.status != status else { return }
            state.status = status
            schedule(&state)
        }
    }

    /// Returns once everything is written, or after `limit`; false where there is something left then.
    @discardableResult
    func flush(within limit: DispatchTimeInterval = .seconds(5)) -> Bool {
        drained().wait(timeout: .now() + limit) == .success
    }

    /// The same, for a program that is about to end. `limit`: for the system's journal.
    func finish(within limit: Duration = .seconds(1)) {
        if flush() { journal?.settle(within: limit) }
    }

    /// Calls back when everything queued so far is written, whatever comes meanwhile.
    private func drained() -> DispatchSemaphore {
        let drained = DispatchSemaphore(value: 0)
        queue.async { @Sendable [self] in
            if let bytes = state.withLock({ Self.dequeue(&$0) }) { put(bytes) }
            drained.signal()
        }
        return drained
    }

    private func schedule(_ state: inout State) {
        guard !state.isScheduled else { return }
        state.isScheduled = true
        queue.async { @Sendable [self] in drain() }
    }

    private func drain() {
        let bytes = state.withLock { state in
            let bytes = Self.dequeue(&state)
            state.isScheduled = bytes != nil
            return bytes
        }
        guard let bytes else { return }
        put(bytes)
        usleep(Self.pause)
        // After those who wait for what was written.
        queue.async { @Sendable [self] in drain() }
    }

    /// If writing fails (no reader, a full disk) these lines are dropped; later ones may succeed.
    private func put(_ bytes: [UInt8]) {
        if let journal { journal.send(bytes) } else { _ = Self.write(bytes, to: descriptor) }
    }

    private static func dequeue(_ state: inout State) -> [UInt8]? {
        guard !state.waiting.isEmpty || state.status != state.shown else { return nil }
        var bytes: [UInt8] = []
        swap(&bytes, &state.waiting)
        if !state.shown.isEmpty { bytes.insert(contentsOf: eraseLine, at: 0) }
        bytes += state.status
        state.shown = state.status
        return bytes
    }

    /// Writes all of it, however long that takes; false where that is not possible.
    static func write(_ bytes: [UInt8], to descriptor: Int32) -> Bool {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { Glibc.write(descriptor, $0.baseAddress, $0.count) }
            if count >= 0 {
                rest = rest.dropFirst(count)
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Somebody made the descriptor non-blocking.
                var wait = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                poll(&wait, 1, -1)
            default: return false
            }
        }
        return true
    }
}
