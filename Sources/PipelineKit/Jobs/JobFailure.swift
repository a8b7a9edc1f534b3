/// Why a job failed, as the stages of `on_failure` are told.
package struct JobFailure: Sendable, Equatable {
    /// The reason.
    package let failure: Failure
    /// The kind of the stage that failed; nil where none had begun.
    package let stage: String?
    /// Runs of that stage.
    package let attempts: Int

    package init(_ failure: Failure, stage: String?, attempts: Int) {
        self.failure = failure
        self.stage = stage
        self.attempts = attempts
    }
}
