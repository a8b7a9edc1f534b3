import Synchronization

/// What a run of a stage has to say besides its result.
package final class StageNotes: Sendable {
    private struct State {
        var notes: [String] = []
        var warnings: [String] = []
    }

    private let state = Mutex(State())

    /// Nothing said yet.
    package init() {}

    /// For the job's history: `integrity: verified`.
    package func add(_ note: String) { state.withLock { $0.notes.append(note) } }

    /// For whoever runs the daemon: a sentence without a final stop. A stage says the same thing once only.
    package func warn(_ warning: String) { state.withLock { $0.warnings.append(warning) } }

    /// What goes into the history; nil where nothing was said.
    package var text: String? {
        let notes = state.withLock { $0.notes }
        return notes.isEmpty ? nil : notes.joined(separator: "; ")
    }

    /// The warnings, in order.
    package var warnings: [String] { state.withLock { $0.warnings } }
}
