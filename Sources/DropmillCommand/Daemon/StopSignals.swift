import Dispatch
import Glibc

/// SIGTERM and SIGINT: the first asks to stop, the second ends the process at once with 128 + its number. SIGHUP asks
/// for a reload, until the daemon stops; SIGUSR1 and SIGUSR2, which mean nothing to others here, do nothing.
///
/// They are blocked and waited for, so that one that comes before anybody listens is kept by the kernel: a dispatch
/// source sees what comes after its registration, which happens some time later on a thread of its own. SIGHUP is
/// blocked since before `main` (CStart), because it must never end the daemon; the others do so until there is
/// something to be stopped in order.
struct StopSignals: Sendable {
    private static let numbers = [SIGTERM, SIGINT, SIGHUP]
    private static let meaningless = [SIGUSR1, question]
    /// What the thread that waits is asked by whether it does. It waits for it although it is ignored.
    private static let question = SIGUSR2

    /// Holds them back, in this thread and all that it leads to; until then they end the process. To be called on the
    /// main thread, and before anything that may start another.
    init() {
        Self.mask(SIG_BLOCK)
        for number in Self.meaningless { signal(number, SIG_IGN) }
        // Whoever started us may have them ignored: a shell does so with SIGINT for what it runs in the background.
        for number in Self.numbers { signal(number, SIG_DFL) }
    }

    /// Does what may have to wait for a disk while there is nothing that is to be stopped in order: a signal to stop
    /// ends the process.
    func whileNothingRuns<Value>(_ body: () -> Value) -> Value {
        let isOver = DispatchSemaphore(value: 0)
        DispatchQueue(label: "dropmill.signals.start").async { @Sendable in
            while isOver.wait(timeout: .now() + .milliseconds(100)) == .timedOut {
                var (stops, none) = (sigset_t(), timespec())
                sigemptyset(&stops)
                for number in [SIGTERM, SIGINT] { sigaddset(&stops, number) }
                let number = sigtimedwait(&stops, nil, &none)
                guard number > 0 else { continue }
                pthread_sigmask(SIG_UNBLOCK, &stops, nil)
                raise(number)
                // The first process of a container is spared by what it does not handle.
                _exit(128 + number)
            }
        }
        defer { isOver.signal() }
        return body()
    }

    /// Listens from now on, also for what has come meanwhile; `stop` is called once and `reload` at each SIGHUP before
    /// that, on a thread of its own. `answer` is called there for each `ask`.
    func listen(
        stop: @escaping @Sendable () -> Void, reload: @escaping @Sendable () -> Void,
        answer: @escaping @Sendable () -> Void
    ) {
        DispatchQueue(label: "dropmill.signals").async { @Sendable in
            _ = Self.nextToStop(reload, answer)
            stop()
            _exit(128 + Self.nextToStop({}, answer))
        }
    }

    /// Has the thread that waits answer.
    static func ask() { kill(getpid(), question) }

    /// Lets them come: from then on a signal ends the process, as it would have before; but not SIGHUP.
    func allow() {
        signal(SIGHUP, SIG_IGN)
        Self.mask(SIG_UNBLOCK)
    }

    private static func nextToStop(_ reload: () -> Void, _ answer: () -> Void) -> Int32 {
        while true {
            switch next() {
            case SIGHUP: reload()
            case question: answer()
            case let number: return number
            }
        }
    }

    private static func next() -> Int32 {
        var set = set
        var number: Int32 = 0
        // It fails for a set of unknown signals only.
        while sigwait(&set, &number) != 0 {}
        return number
    }

    private static func mask(_ how: Int32) {
        var set = set
        pthread_sigmask(how, &set, nil)
    }

    private static var set: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for number in numbers + [question] { sigaddset(&set, number) }
        return set
    }
}
