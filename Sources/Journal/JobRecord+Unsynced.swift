package import Files
package import PipelineKit

/// What a failed sync leaves behind. It is kept in the job's history, since who sees a disk fail restarts the daemon.
extension JobRecord {
    private static let unsynced = "unsynced"
    /// The drop was rewritten after a failed sync and is on disk.
    package static let renewed = "renewed"

    /// Whether a sync of the drop may have failed, so that it must be rewritten before the next sync.
    package var mustRenewDrop: Bool {
        history.last { $0.event == Self.unsynced || $0.event == Self.renewed }?.event == Self.unsynced
    }

    private static let listUnsynced = "list unsynced"

    /// Whether a sync of its lists failed: its lines are written again, since the page cache need not match the disk.
    package var hasDoubtfulLists: Bool { history.contains { $0.event == Self.listUnsynced } }

    /// The lists that it adds lines to could not be synced.
    package mutating func doubtLists(because reason: String, at time: Timestamp) {
        if let last = history.indices.last, history[last].event == Self.listUnsynced {
            history[last].repeats(at: time)
        } else {
            history.append(Transition(Self.listUnsynced, at: time, note: reason))
        }
    }

    /// The outputs could not be synced: they are rewritten, and so is the drop.
    package mutating func lostOutputs(because failure: Failure, at time: Timestamp) {
        payload = nil
        inputs = [:]
        intents = []
        if let last = history.indices.last, history[last].event == Self.unsynced {
            history[last].repeats(at: time)
        } else {
            history.append(Transition(Self.unsynced, at: time, note: failure.summary))
        }
    }
}
