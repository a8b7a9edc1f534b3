@preconcurrency import Dispatch
import Synchronization

/// What waits for one listener, be it a closure on a queue or a task. Whoever fills it is never held up.
final class Outbox<Pending: Merging>: Sendable {
    typealias Body = @Sendable (Pending.Told, Outbox<Pending>) -> Void

    private struct State {
        var pending = Pending()
        /// The closure, until it is ended: it may hold whoever fills this.
        var body: Body?
        /// The task that waits.
        var waiter: CheckedContinuation<Pending.Told?, Never>?
        /// Whether the listener's queue is to look, or is at it.
        var isAwaited = false
        var isHeld = false
        var isEnded = false

        mutating func take() -> Pending.Told? { isHeld || isEnded ? nil : pending.take() }
    }

    private let state: Mutex<State>
    /// Where the closure is called; nil for a task.
    private let queue: DispatchQueue?

    /// For a closure that is called on a queue, with this outbox.
    init(on queue: DispatchQueue, withOutbox body: @escaping Body) {
        state = Mutex(State(body: body))
        self.queue = queue
    }

    /// For a closure that is called on a queue.
    convenience init(on queue: DispatchQueue, _ body: @escaping @Sendable (Pending.Told) -> Void) {
        self.init(on: queue, withOutbox: { @Sendable told, _ in body(told) })
    }

    /// For a task that asks.
    init() {
        state = Mutex(State())
        queue = nil
    }

    /// Whether nobody listens any more.
    var isEnded: Bool { state.withLock { $0.isEnded } }

    /// Whether a task listens: its sequence ends when there is nothing more to come.
    var isOfTask: Bool { queue == nil }

    /// Adds to what is to be told.
    func add(_ merge: (inout Pending) -> Void) {
        tell { state in merge(&state.pending) }
    }

    /// Whether what waits is told now, or later.
    func hold(_ isHeld: Bool) {
        tell { state in state.isHeld = isHeld }
    }

    /// Nothing is told any more.
    func end() {
        let (waiter, body) = state.withLock { state in
            defer { (state.waiter, state.body, state.pending) = (nil, nil, Pending()) }
            state.isEnded = true
            return (state.waiter, state.body)
        }
        waiter?.resume(returning: nil)
        // What only the closure held goes here, and not on the queue of whoever finds this ended.
        _ = body
    }

    private func tell(_ change: (inout State) -> Void) {
        let isAsking = state.withLock { state in
            guard !state.isEnded else { return false }
            change(&state)
            guard queue == nil else {
                defer { state.isAwaited = true }
                return !state.isAwaited
            }
            if let waiter = state.waiter, let told = state.take() {
                state.waiter = nil
                waiter.resume(returning: told)
            }
            return false
        }
        if isAsking { deliverSoon() }
    }

    /// One at a time: others have turns on the queue, too.
    private func deliverSoon() {
        queue?.async { @Sendable [self] in
            let next: (told: Pending.Told, body: Body)? = state.withLock { state in
                guard let body = state.body, let told = state.take() else {
                    state.isAwaited = false
                    return nil
                }
                return (told, body)
            }
            guard let next else { return }
            next.body(next.told, self)
            deliverSoon()
        }
    }

    /// What is to be told next, when there is something; nil at the end, also that of the task.
    func next() async -> Pending.Told? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                state.withLock { state in
                    if let told = state.take() { return continuation.resume(returning: told) }
                    if state.isEnded { return continuation.resume(returning: nil) }
                    state.waiter = continuation
                }
            }
        } onCancel: {
            end()
        }
    }
}
