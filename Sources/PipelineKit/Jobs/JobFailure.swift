/// Why a job failed, for the stages of `on_failure`.
public struct JobFailure: Sendable, Equatable {
    /// What went wrong.
    public let failure: Failure
    /// The kind of the stage that failed; nil where none had begun.
    public let stage: String?
    /// Runs of that stage.
    public let attempts: Int

    package init(_ failure: Failure, stage: String?, attempts: Int) {
        self.failure = failure
        self.stage = stage
        self.attempts = attempts
    }
}
