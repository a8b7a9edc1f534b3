@preconcurrency import Dispatch

/// Settles finished jobs of one pipeline in batches, on a queue of its own: while one batch is brought to the disk the
/// next gathers.
package final class Settler: Sendable {
    /// A job and what came of its settlement.
    package typealias Outcome = (settlement: Settlement, result: Settlement.Result)

    private let mailbox: Mailbox<Settlement>

    /// A settler that moves with `spool` and reports to `deliver`, on its queue.
    package init(spool: Spool, deliver: @escaping @Sendable ([Outcome]) -> Void) {
        let queue = DispatchQueue(label: "dropmill.\(spool.pipeline.name).settle")
        mailbox = Mailbox(on: queue) { @Sendable batch in
            deliver(Array(zip(batch, spool.settle(batch))))
        }
    }

    /// Adds a job to the next batch.
    package func settle(_ settlement: Settlement) { mailbox.post(settlement) }
}
