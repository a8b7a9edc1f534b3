package import PipelineKit

extension JobRecord {
    /// The event of a job that no start goes on with.
    package static let leftAlone = "left alone"

    package var isLeftAlone: Bool { !state.isFinal && history.last?.event == Self.leftAlone }

    /// How far the job is; nil for a finished one.
    package var progress: JobState? {
        switch state {
        case .queued: .queued(stage: stage, failures: failures)
        case .running: .running(stage: stage, failures: failures)
        case .deferred:
            failure.map { .deferred(stage: stage, failures: failures, $0) } ?? .queued(stage: stage, failures: failures)
        case .settling: .settling(failure.map { .failed($0) } ?? .processed)
        case .processed, .failed, .lost: nil
        }
    }

    /// Notes how far the job is. `stages`: how many its pipeline has.
    package mutating func note(_ progress: JobState, stages: Int) {
        if case .deferred = progress {} else { nextAttempt = nil }
        switch progress {
        case .queued(let stage, let failures): (state, self.stage, self.failures) = (.queued, stage, failures)
        case .running(let stage, let failures): (state, self.stage, self.failures) = (.running, stage, failures)
        case .deferred(let stage, let failures, _): (state, self.stage, self.failures) = (.deferred, stage, failures)
        case .settling(let outcome):
            (state, stage) = (.settling, stages)
            var reason: Failure?
            if case .failed(let failure) = outcome { reason = failure }
            if reason != nil, failure != reason { failedStage = nil }
            failure = reason
        }
    }
}
