@preconcurrency import Dispatch
import Files
import Synchronization

/// Renews a node's lease, three times in its time, and knows until when it holds by a clock of this machine that goes
/// on while it sleeps.
final class LeaseKeeper: Sendable {
    private let queue = DispatchQueue(label: "dropmill.lease")
    private let timer: any DispatchSourceTimer
    /// When the last renewal that was answered was sent; nil once the lease is known to be over.
    private let renewed: Mutex<MonotonicTime?>
    private let lease: Duration

    /// `renew`: false where the database says that it is over.
    init(_ lease: Duration, from begin: MonotonicTime, renew: @escaping @Sendable () -> Bool?) {
        self.lease = lease
        renewed = Mutex(begin)
        timer = DispatchSource.makeTimerSource(queue: queue)
        let third = Int(lease.nanoseconds / 3)
        timer.schedule(deadline: .now() + .nanoseconds(third), repeating: .nanoseconds(third))
        timer.setEventHandler { @Sendable [weak self] in
            let sent = Self.now
            guard let holds = renew() else { return }
            self?.renewed.withLock { $0 = holds && $0 != nil ? sent : nil }
        }
        timer.activate()
    }

    /// By the clock that goes on while the machine sleeps.
    static var now: MonotonicTime { MonotonicTime(nanoseconds: MonotonicTime.read(MonotonicTime.bootTime)) }

    func stop() {
        timer.cancel()
        queue.sync {}
    }

    /// How much longer it holds at least; nothing where it is over.
    var rest: Duration {
        guard let sent = renewed.withLock({ $0 }) else { return .zero }
        return max(.zero, lease - (Self.now - sent))
    }
}
