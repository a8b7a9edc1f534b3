@preconcurrency import Dispatch
import Files
import Glibc
import PipelineEngine
import Synchronization

/// Tells the service manager how the daemon is (sd_notify(3)), without its library. Nothing waits for it; where it
/// cannot be told there is one warning.
final class ServiceNotifier: Sendable {
    private struct State {
        var isReady = false
        var isReloading = false
        var isStopping = false
        /// What it warned of, once, and who is told.
        var warning: String?
        var warn: (@Sendable (String) -> Void)?
        /// The last message could not be sent.
        var isStuck = false
        var isTryingAgain = false
        var status = ""
        var backlog = ServiceBacklog()
    }

    /// How long a start may take from each time that the manager is told that it goes on, and how often it is told.
    private static let patience = (start: Duration.seconds(60), pause: Duration.seconds(10))

    /// How often the manager is to be told that the daemon is alive; nil where it does not ask.
    let watchdogInterval: Duration?
    private let path: [UInt8]
    private let socket: Int32
    private let state = Mutex(State())
    private let queue = DispatchQueue(label: "dropmill.service")

    /// For the manager that started this process; nil where there is none. What it set is not for our own children.
    /// To be called before anything may start another thread.
    static func ofManager() -> ServiceNotifier? {
        func take(_ name: String) -> String? {
            let value = getenv(name).map { String(cString: $0) }
            unsetenv(name)
            return value
        }
        let interval = Watchdog.interval(microseconds: take("WATCHDOG_USEC"), process: take("WATCHDOG_PID"))
        guard let path = take("NOTIFY_SOCKET"), !path.isEmpty else { return nil }
        return ServiceNotifier(path, watchdogInterval: interval)
    }

    /// `path`: of a socket; one that begins with `@` is in the abstract namespace.
    init(_ path: String, watchdogInterval: Duration? = nil) {
        self.watchdogInterval = watchdogInterval
        var bytes = Array(path.utf8)
        if bytes.first == UInt8(ascii: "@") { bytes[0] = 0 }
        self.path = bytes
        socket = Glibc.socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
        var limit = timeval(tv_sec: 5, tv_usec: 0)
        setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &limit, socklen_t(MemoryLayout<timeval>.size))
    }

    deinit { close(socket) }

    /// Has that told where the manager cannot be told, also if that was before.
    func warn(by warn: @escaping @Sendable (String) -> Void) {
        let warning = state.withLock { state in
            state.warn = warn
            return state.warning
        }
        if let warning { warn(warning) }
    }

    /// The start goes on, as long as it is not ready.
    func starting() {
        guard !state.withLock({ $0.isReady }) else { return }
        send(.sign("EXTEND_TIMEOUT_USEC=\(Self.patience.start.components.seconds * 1_000_000)"))
        queue.after(Self.patience.pause) { @Sendable [weak self] in self?.starting() }
    }

    /// It has started.
    func ready() {
        send(.step("READY=1")) { state in
            state.isReady = true
            return !state.isReloading && !state.isStopping
        }
    }

    /// It reads its files again.
    func reloading() {
        var now = timespec()
        clock_gettime(CLOCK_MONOTONIC, &now)
        send(.reloading("RELOADING=1\nMONOTONIC_USEC=\(now.tv_sec * 1_000_000 + now.tv_nsec / 1000)")) { state in
            state.isReloading = true
            return state.isReady && !state.isStopping
        }
    }

    /// It has taken them, or refused them.
    func reloaded() {
        send(.step("READY=1")) { state in
            state.isReloading = false
            return state.isReady && !state.isStopping
        }
    }

    func stopping() {
        send(.last("STOPPING=1")) { state in
            (state.isReady, state.isStopping) = (true, true)
            return true
        }
    }

    /// How things stand, in one line: the manager is told where that is news.
    func note(_ status: String) {
        let isNews = state.withLock { state in
            defer { state.status = status }
            return state.status != status && !state.isStopping
        }
        if isNews { send(.status("STATUS=\(status)")) }
    }

    /// All that must answer does.
    func alive() { send(.sign("WATCHDOG=1")) }

    /// Waits until all that was said is sent, or has been tried.
    func flush() { queue.sync {} }

    private func send(_ message: ServiceBacklog.Message) {
        queue.async { @Sendable [self] in
            state.withLock { $0.backlog.add(message) }
            deliver()
        }
    }

    /// Where that is due, in the order in which the state changes.
    private func send(_ message: ServiceBacklog.Message, ifDue isDue: (inout State) -> Bool) {
        state.withLock { state in
            if isDue(&state) { send(message) }
        }
    }

    /// On the queue, which may wait a while, once, for a manager that has much to read; after that it is asked every
    /// second.
    private func deliver() {
        while let next = state.withLock({ $0.backlog.messages.first }) {
            let isStuck = state.withLock { $0.isStuck }
            guard put(Array(next.text.utf8), waiting: !isStuck) else { return retain(because: errno) }
            state.withLock { state in
                state.backlog.removeFirst()
                state.isStuck = false
            }
        }
    }

    private func retain(because error: Int32) {
        let name = EscapedText.of(path.first == 0 ? Array("@".utf8) + path.dropFirst() : path)
        let warning =
            "cannot tell the service manager how it is: \(String(cString: strerror(error))) at its socket '\(name)' "
            + "(NOTIFY_SOCKET); it may take a start or a reload for one that hangs"
        let (warn, isToTryAgain) = state.withLock { state in
            state.isStuck = true
            state.backlog.removeSigns()
            let isNews = state.warning == nil
            if isNews { state.warning = warning }
            // One that is not there is not waited for.
            let isToTryAgain = [EAGAIN, ENOBUFS].contains(error) && !state.isTryingAgain
            if isToTryAgain { state.isTryingAgain = true }
            return (isNews ? state.warn : nil, isToTryAgain)
        }
        if isToTryAgain {
            queue.after(.seconds(1)) { @Sendable [weak self] in
                self?.state.withLock { $0.isTryingAgain = false }
                self?.deliver()
            }
        }
        warn?(warning)
    }

    private func put(_ message: [UInt8], waiting: Bool) -> Bool {
        var address = sockaddr_un()
        address.sun_family = sa_family_t(AF_UNIX)
        guard path.count < MemoryLayout.size(ofValue: address.sun_path) else {
            errno = ENAMETOOLONG
            return false
        }
        withUnsafeMutableBytes(of: &address.sun_path) { $0.copyBytes(from: path) }
        // An abstract name has exactly the bytes that are given (unix(7)); a path ends with a NUL.
        let isAbstract = path.first == 0
        let length = MemoryLayout<sa_family_t>.size + path.count + (isAbstract ? 0 : 1)
        return withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                sendto(
                    socket, message, message.count, Int32(MSG_NOSIGNAL) | (waiting ? 0 : Int32(MSG_DONTWAIT)), $0,
                    socklen_t(length)) >= 0
            }
        }
    }
}
