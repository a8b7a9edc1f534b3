@preconcurrency package import Dispatch
import Synchronization

/// Hands messages to a serial queue in batches: while one is handled the next one collects, so that a flood costs one
/// wake-up of the queue for many messages. Order is kept.
package final class Mailbox<Message: Sendable>: Sendable {
    private let queue: DispatchQueue
    private let pending = Mutex<[Message]>([])
    private let handler: @Sendable ([Message]) -> Void

    /// A mailbox whose handler is called on the queue, never with an empty batch.
    package init(on queue: DispatchQueue, handler: @escaping @Sendable ([Message]) -> Void) {
        self.queue = queue
        self.handler = handler
    }

    /// Adds a message.
    package func post(_ message: Message) {
        let wasEmpty = pending.withLock { pending in
            pending.append(message)
            return pending.count == 1
        }
        if wasEmpty { queue.async { @Sendable in self.deliver() } }
    }

    private func deliver() {
        let batch = pending.withLock { pending in
            let batch = pending
            pending = []
            return batch
        }
        if !batch.isEmpty { handler(batch) }
    }
}
