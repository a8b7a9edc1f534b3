@preconcurrency import Dispatch
import Files
import Glibc
import PipelineEngine
import Synchronization

/// Tells the service manager that the daemon is alive, as long as its engine's queue, its journal and its thread for
/// signals answer. Neither an inbox that does not answer nor a stage that takes long is a reason to be restarted.
final class Watchdog: Sendable {
    typealias Part = WatchdogRounds.Part

    private let rounds = Mutex(WatchdogRounds())
    private let interval: Duration
    private let ask: @Sendable (Watchdog) -> Void
    private let tell: @Sendable () -> Void
    private let warn: @Sendable (String) -> Void
    private let queue = DispatchQueue(label: "dropmill.watchdog")
    private let timer = Mutex<(any DispatchSourceTimer)?>(nil)

    /// `ask` asks all parts, which call `heard`; `tell` tells the manager.
    init(
        every interval: Duration, ask: @escaping @Sendable (Watchdog) -> Void, tell: @escaping @Sendable () -> Void,
        warn: @escaping @Sendable (String) -> Void
    ) {
        (self.interval, self.ask, self.tell, self.warn) = (interval, ask, tell, warn)
    }

    /// The one that the manager of this process wants; nil where it wants none.
    convenience init?(
        for service: ServiceNotifier?, _ engine: Engine, warn: @escaping @Sendable (String) -> Void
    ) {
        guard let service, let interval = service.watchdogInterval else { return nil }
        self.init(
            every: interval,
            ask: { @Sendable dog in
                engine.probe({ dog.heard(from: .engine) }, written: { dog.heard(from: .journal) })
                StopSignals.ask()
            }, tell: { @Sendable in service.alive() }, warn: warn)
    }

    deinit { timer.withLock { $0 }?.cancel() }

    /// How often a manager is to be told, by what it set (sd_watchdog_enabled(3)): half of the time after which it
    /// gives this process up; nil where it does not.
    static func interval(microseconds: String?, process: String?, ofProcess own: Int32 = getpid()) -> Duration? {
        guard let limit = microseconds.flatMap(UInt64.init), limit > 0, limit < .max else { return nil }
        guard process.map({ Int32($0) == own }) ?? true else { return nil }
        // Not more often than makes sense, and no longer than can be counted.
        return .microseconds(Int64(min(max(limit / 2, 10_000), 1 << 50)))
    }

    /// Begins with the rounds.
    func begin() {
        let timer = queue.every(interval, from: .zero, leeway: .zero) { @Sendable [weak self] in self?.tick() }
        self.timer.withLock { $0 = timer }
    }

    /// A part has answered. Any thread may call this.
    func heard(from part: Part) {
        if rounds.withLock({ $0.answered(part) }) { tell() }
    }

    private func tick() {
        guard rounds.withLock({ $0.begin(at: .now()) }) else { return }
        ask(self)
        // While there is time to say it: after the next one the manager may act.
        queue.after(interval * 2 / 3) { @Sendable [weak self] in self?.reportSilence() }
    }

    private func reportSilence() {
        guard let silence = rounds.withLock({ $0.silence(at: .now()) }) else { return }
        let text = "\(silence.part.rawValue) has not answered for \(silence.time.text)"
        warn("\(text); unless it does the service manager ends the daemon, which then starts again")
    }
}
