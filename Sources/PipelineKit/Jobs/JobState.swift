/// How far a job is: what the journal records, and where a start resumes it.
package enum JobState: Sendable, Equatable {
    /// How a job ends.
    package enum Outcome: Sendable, Equatable {
        /// Every stage succeeded.
        case processed
        /// It failed for good.
        case failed(Failure)
    }

    /// Waits for a worker of that stage, by its place in the pipeline; `failures`: runs of it that have failed so far.
    case queued(stage: Int, failures: Int)
    /// A worker has it.
    case running(stage: Int, failures: Int)
    /// Waits for its next attempt, because of the last failure.
    case deferred(stage: Int, failures: Int, Failure)
    /// Every stage is behind it: its outputs are published and its original is moved.
    case settling(Outcome)
}
