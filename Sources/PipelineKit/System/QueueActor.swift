@preconcurrency import Dispatch

/// An actor that lives on a labelled serial queue. What others ask of it comes in the order in which they ask, which
/// `await` does not promise.
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

    /// Runs the body on the queue and waits for it. Never called from the queue itself.
    package nonisolated func sync<Value: Sendable>(_ body: @Sendable (isolated Self) -> Value) -> Value {
        executor.queue.sync { assumeIsolated(body) }
    }
}
