/// Why a job failed, for the stages of `on_failure`.
package struct JobFailure: Sendable, Equatable {
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
