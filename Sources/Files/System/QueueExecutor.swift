@preconcurrency package import Dispatch

/// A labelled serial queue as the executor of an actor: what the actor does shows under its name, and may block.
package final class QueueExecutor: SerialExecutor {
    /// The queue.
    package let queue: DispatchQueue

    private let mark = DispatchSpecificKey<Void>()

    /// An executor with a queue of this label.
    package init(label: String) {
        queue = DispatchQueue(label: label)
        queue.setSpecific(key: mark, value: ())
    }

    /// Whether the caller runs on the queue.
    package var isCurrent: Bool { DispatchQueue.getSpecific(key: mark) != nil }

    /// Runs a job of the actor on the queue.
    package func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { @Sendable [self] in job.runSynchronously(on: asUnownedSerialExecutor()) }
    }

    /// Stops the process where the caller is not on the queue.
    package func checkIsolated() { dispatchPrecondition(condition: .onQueue(queue)) }
}
