import Synchronization

/// Notes and warnings of a stage's run.
public final class StageNotes: Sendable {
    /// The most that is kept for the history, in UTF-8 bytes.
    package static let mostBytes = 4096

    private struct State {
        var lines = ""
        var warnings: [String] = []
    }

    private let state = Mutex(State())

    package init() {}

    /// Adds a line, or some, to the job's history: `integrity: verified`. What passes `mostBytes` in all is cut.
    public func add(_ text: String) {
        state.withLock { state in
            if !state.lines.isEmpty { state.lines += "\n" }
            state.lines += text
            if state.lines.utf8.count > Self.mostBytes {
                state.lines = String(decoding: state.lines.utf8.prefix(Self.mostBytes), as: UTF8.self) + "…"
            }
        }
    }

    /// A warning for the operator: a sentence without a final stop. A stage reports the same one only once.
    public func warn(_ warning: String) { state.withLock { $0.warnings.append(warning) } }

    /// The note for the history; nil if there is none.
    package var text: String? { state.withLock { $0.lines.isEmpty ? nil : $0.lines } }

    /// The warnings, in order.
    package var warnings: [String] { state.withLock { $0.warnings } }
}
