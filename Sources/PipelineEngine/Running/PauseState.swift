import PipelineKit

/// Whether a pipeline is stopped by its surroundings, and how it finds out that they are well again.
struct PauseState {
    var reason: StageFailure?
    /// Since when it is in this trouble.
    var since = MonotonicTime(nanoseconds: 0)
    /// The same on the wall clock, for people.
    var pausedAt = Timestamp(nanoseconds: 0)
    /// The last trouble, and when it was over.
    var last: StageFailure?
    var ended = MonotonicTime(nanoseconds: 0)
    /// It goes on as if all were well; that all is well shows only when something is claimed, or nothing fails for a
    /// while.
    var isOnTrial = false
    /// The wait before the next probe; doubles from probe to probe.
    var delay = PauseState.firstDelay
    /// The job that tries whether it works again.
    var probing: JobID?
    /// Whether the intake is what is in trouble, so that no job can tell whether it is over.
    var isIntakes = false
    /// Whether the intake was asked.
    var isAskingIntake = false

    var isPaused: Bool { reason != nil && !isOnTrial }

    /// Whether several probes have failed.
    var isStubborn: Bool { delay > .seconds(4) }

    static let trial = Duration.seconds(2)
    static let firstDelay = Duration.seconds(1)
    static let longestDelay = Duration.seconds(60)
}
