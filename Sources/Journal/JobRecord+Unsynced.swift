package import PipelineKit

/// What a failed sync leaves behind. It is kept in the job's history, since who sees a disk fail restarts the daemon.
extension JobRecord {
    private static let unsynced = "unsynced"
    /// What was dropped was made anew after a failed sync, and brought to the disk.
    package static let renewed = "renewed"

    /// Whether a sync of what was dropped may have failed, so that it must be made anew before it is synced again.
    package var mustRenewDrop: Bool {
        history.last { $0.event == Self.unsynced || $0.event == Self.renewed }?.event == Self.unsynced
    }

    /// The outputs could not be brought to the disk: they are made anew, and so is the drop.
    package mutating func lostOutputs(because failure: StageFailure, at time: Timestamp) {
        payload = nil
        intents = []
        if let last = history.indices.last, history[last].event == Self.unsynced {
            history[last].repeats(at: time)
        } else {
            history.append(Transition(Self.unsynced, at: time, note: failure.summary))
        }
    }
}
