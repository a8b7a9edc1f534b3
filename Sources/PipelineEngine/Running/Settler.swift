@preconcurrency import Dispatch
import PipelineKit
import SystemPackage

/// Settles finished jobs of one pipeline in batches, on a queue of its own: while one batch is brought to the disk the
/// next gathers. Folders are synced once a batch, and the journal's commits are shared.
///
/// The order, for each job: outputs on disk → intents in the journal → outputs get their names → their folders on disk
/// → the original is moved → its folder on disk → the end in the journal → the job's folder goes. An attempt that was
/// broken off, by trouble or by the end of a process, is taken up at the intents.
package final class Settler: Sendable {
    /// A job and what came of its settlement.
    package typealias Outcome = (settlement: Settlement, result: Settlement.Result)

    private let mailbox: Mailbox<Settlement>

    /// A settler that moves with `spool`, writes to `journal` and reports to `deliver`, on its queue; `warn` is told
    /// what changes no outcome, in a sentence.
    package init(
        spool: Spool, journal: JournalWriter, warn: @escaping @Sendable (String) -> Void,
        deliver: @escaping @Sendable ([Outcome]) -> Void
    ) {
        let queue = DispatchQueue(label: "dropmill.\(spool.pipeline.name).settle")
        let names = Guarded(NameChooser())
        mailbox = Mailbox(on: queue) { @Sendable settlements in
            var batch = SettlementBatch(settlements, spool: spool, journal: journal, names: names.value)
            batch.settle()
            names.value = batch.names
            for warning in batch.warnings { warn(warning) }
            deliver(batch.outcomes)
        }
    }

    /// Adds a job to the next batch.
    package func settle(_ settlement: Settlement) { mailbox.post(settlement) }
}

/// A value that only the settler's queue touches.
// @unchecked: confined to the serial queue of the mailbox that captures it.
private final class Guarded<Value>: @unchecked Sendable {
    var value: Value
    init(_ value: Value) { self.value = value }
}
