@preconcurrency import Dispatch

/// An actor that runs on a labelled serial queue. Calls run in the order in which they are made, which
/// `await` does not guarantee.
package protocol QueueActor: Actor {
    /// Its queue. Several actors may share one: each reaches the others by `assumeIsolated`.
    nonisolated var executor: QueueExecutor { get }
}

extension QueueActor {
    /// Runs the body on the queue, after everything enqueued before.
    package nonisolated func enqueue(_ body: @escaping @Sendable (isolated Self) -> Void) {
        executor.queue.async { @Sendable [self] in assumeIsolated(body) }
    }

    /// Runs the body on the queue after a delay.
    package nonisolated func enqueue(after delay: Duration, _ body: @escaping @Sendable (isolated Self) -> Void) {
        executor.queue.after(delay) { @Sendable [self] in assumeIsolated(body) }
    }

    /// Runs the body on the queue and waits for it, but for a caller that is on it by chance: a reference may be the
    /// last one anywhere.
    package nonisolated func syncUnlessCurrent(_ body: @escaping @Sendable (isolated Self) -> Void) {
        if executor.isCurrent { enqueue(body) } else { executor.queue.sync { assumeIsolated(body) } }
    }

    /// Runs the body on the queue and waits for it. Never called from the queue itself.
    package nonisolated func sync<Value: Sendable>(_ body: @Sendable (isolated Self) -> Value) -> Value {
        executor.queue.sync { assumeIsolated(body) }
    }
}
