package import PipelineKit
package import SystemPackage

/// How one job went.
package struct JobReport: Sendable {
    package let job: Job
    package let outcome: JobState.Outcome
    /// Where the original went; nil where it was deleted or published as the payload.
    package let original: FilePath?
    /// What was published: the file or folder, and what lies beside it.
    package let outputs: [FilePath]
    /// From the claim to the end.
    package let duration: Duration
    /// What each stage took that ran, in order.
    package let stages: [StageTime]

    /// Whether something went wrong. One that was released has not failed.
    package var hasFailed: Bool { if case .failed(let failure) = outcome { !failure.isRelease } else { false } }
    /// Whether that is because somebody cancelled it.
    package var isCancelled: Bool { if case .failed(let failure) = outcome { failure.isCancel } else { false } }

    /// The time of one stage, all its runs together.
    package struct StageTime: Sendable {
        /// The kind's word.
        package let kind: String
        package let duration: Duration
    }
}
