import Synchronization

/// What a stage has to say of its run, a few lines for whoever looks at the job: kept with the job's history.
package final class StageNotes: Sendable {
    /// The most that is kept, in UTF-8 bytes.
    package static let mostBytes = 4096

    private let lines = Mutex("")

    /// Nothing said yet.
    package init() {}

    /// Adds a line, or some; what passes `mostBytes` in all is cut.
    package func add(_ text: String) {
        lines.withLock { lines in
            if !lines.isEmpty { lines += "\n" }
            lines += text
            if lines.utf8.count > Self.mostBytes {
                lines = String(decoding: lines.utf8.prefix(Self.mostBytes), as: UTF8.self) + "…"
            }
        }
    }

    /// All that was said; nil for nothing.
    package var text: String? { lines.withLock { $0.isEmpty ? nil : $0 } }
}

/// Why a job failed, as the stages of `on_failure` are told.
package struct JobFailure: Sendable, Equatable {
    /// The reason.
    package let failure: StageFailure
    /// The kind of the stage that failed; nil where none had begun.
    package let stage: String?
    /// Runs of that stage.
    package let attempts: Int

    /// A job's failure.
    package init(_ failure: StageFailure, stage: String?, attempts: Int) {
        self.failure = failure
        self.stage = stage
        self.attempts = attempts
    }
}
