@preconcurrency import Dispatch
import Glibc
import Synchronization

/// SIGTERM and SIGINT: the first asks to stop, the second ends the process at once with 128 + its number.
final class StopSignals: Sendable {
    private let queue = DispatchQueue(label: "dropmill.signals")
    private let sources: [any DispatchSourceSignal]

    /// Begins to listen; `stop` is called once, on a queue of its own.
    init(stop: @escaping @Sendable () -> Void) {
        let state = Asked()
        sources = [SIGTERM, SIGINT].map { [queue] number in
            // The default action would end the process before the source could see the signal.
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: queue)
            source.setEventHandler { @Sendable in
                if state.again() { _exit(128 + number) }
                stop()
            }
            source.resume()
            return source
        }
    }

    /// Stops listening; from then on a signal ends the process, as it would have before.
    func cancel() {
        for source in sources { source.cancel() }
        for number in [SIGTERM, SIGINT] { signal(number, SIG_DFL) }
    }
}

/// Whether somebody has asked before.
private final class Asked: Sendable {
    private let asked = Atomic<Bool>(false)

    func again() -> Bool { asked.exchange(true, ordering: .relaxed) }
}
