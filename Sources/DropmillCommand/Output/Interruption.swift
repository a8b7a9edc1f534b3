import Dispatch
import Files
import Glibc

/// Keeps signals that would end the program waiting, so that it can end in order.
final class Interruption: Sendable {
    /// Those that whoever started this has not set to be ignored (nohup).
    private static var numbers: [Int32] {
        [SIGINT, SIGTERM, SIGHUP].filter { number in
            var action = sigaction()
            return sigaction(number, nil, &action) == 0
                && unsafeBitCast(action.__sigaction_handler.sa_handler, to: Int.self)
                    != unsafeBitCast(SIG_IGN, to: Int.self)
        }
    }
    private static var signals: sigset_t {
        var signals = sigset_t()
        sigemptyset(&signals)
        for number in numbers { sigaddset(&signals, number) }
        return signals
    }

    private let first = Attempt<Void>()

    /// To be made on the main thread. `isPatient`: whether a second one has to wait, too; else it ends the program at
    /// once.
    init(isPatient: Bool = false) {
        var signals = Self.signals
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        guard !isPatient else { return }
        DispatchQueue(label: "dropmill.interruption").async { @Sendable [self] in
            var (signals, number) = (Self.signals, Int32(0))
            sigwait(&signals, &number)
            first.end(with: ())
            sigwait(&signals, &number)
            _exit(128 + number)
        }
    }

    /// Whether one waits.
    var isAskedFor: Bool {
        var pending = sigset_t()
        sigpending(&pending)
        return Self.numbers.contains { sigismember(&pending, $0) == 1 }
    }

    /// Whether one comes within that time, or has come. Not for one that `isPatient`.
    func comes(within time: Duration) -> Bool { first.wait(until: .now() + time.seconds, isPatient: true) != nil }

    /// Lets those come that wait: the program ends here where there is one.
    func allow() {
        var signals = Self.signals
        pthread_sigmask(SIG_UNBLOCK, &signals, nil)
    }
}
