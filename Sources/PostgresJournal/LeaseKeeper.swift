@preconcurrency import Dispatch
import Files
import Synchronization

/// Renews a node's lease, three times in its time, and knows until when it holds by a clock of this machine that goes
/// on while it sleeps.
final class LeaseKeeper: Sendable {
    private struct State {
        /// When the last renewal that was answered was sent.
        var sent: MonotonicTime
        var isLost = false
    }

    private let queue = DispatchQueue(label: "dropmill.lease")
    private let timer: any DispatchSourceTimer
    private let state: Mutex<State>
    private let lease: Duration

    /// `renew`: whether there was an answer.
    init(_ lease: Duration, from begin: MonotonicTime, renew: @escaping @Sendable () -> Bool) {
        self.lease = lease
        state = Mutex(State(sent: begin))
        timer = DispatchSource.makeTimerSource(queue: queue)
        timer.setEventHandler { @Sendable [weak self] in
            let isAnswered = renew()
            self?.schedule(in: isAnswered ? lease / 3 : Self.pause(lease))
        }
        schedule(in: lease / 3)
        timer.activate()
    }

    private func schedule(in time: Duration) { timer.schedule(deadline: .now() + .nanoseconds(Int(time.nanoseconds))) }

    /// After how long it is tried again without an answer: a database that is back is noticed soon.
    static func pause(_ lease: Duration) -> Duration { min(max(lease / 12, .milliseconds(250)), .seconds(2)) }

    /// By the clock that goes on while the machine sleeps.
    static var now: MonotonicTime { MonotonicTime(nanoseconds: MonotonicTime.read(MonotonicTime.bootTime)) }

    /// What the database answered to a renewal. Once it says that this node is dead it never holds again.
    func note(_ holds: Bool, sent: MonotonicTime) {
        state.withLock { state in
            state.isLost = state.isLost || !holds
            state.sent = max(state.sent, sent)
        }
    }

    /// Not within a renewal.
    func stop() {
        timer.cancel()
        queue.sync {}
    }

    var isLost: Bool { state.withLock(\.isLost) }

    /// How much longer it holds at least; nothing where it is over.
    var rest: Duration {
        let state = state.withLock { $0 }
        return state.isLost ? .zero : max(.zero, lease - (Self.now - state.sent))
    }
}
