@preconcurrency package import Dispatch
import Synchronization

/// Has something done on a queue as soon as somebody rings, but not again before a pause is over. Whoever rings
/// meanwhile, however often, has it done one more time.
package final class Bell: Sendable {
    private struct State {
        var isRung = false
        var isSilent = false
        /// Not before.
        var next = MonotonicTime.now()
    }

    private let queue: DispatchQueue
    private let pause: Duration
    private let body: @Sendable () -> Void
    private let state = Mutex(State())

    /// `pause`: how long it is at least from one time to the next.
    package init(
        on queue: DispatchQueue, pause: Duration = .milliseconds(200), _ body: @escaping @Sendable () -> Void
    ) {
        (self.queue, self.pause, self.body) = (queue, pause, body)
    }

    /// It begins after this: what is being done by now may not have seen why.
    package func ring() {
        let delay: Duration? = state.withLock { state in
            guard !state.isRung, !state.isSilent else { return nil }
            state.isRung = true
            return max(.zero, state.next - .now())
        }
        guard let delay else { return }
        queue.after(delay) { @Sendable [self] in answer() }
    }

    /// Nothing begins any more.
    package func silence() { state.withLock { $0.isSilent = true } }

    private func answer() {
        let isWanted = state.withLock { state in
            (state.isRung, state.next) = (false, .now() + pause)
            return !state.isSilent
        }
        if isWanted { body() }
    }
}
