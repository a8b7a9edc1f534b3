import Files
import Journal
import PipelineKit

extension JobRecord {
    /// The job is over: where everything went, and how long it took by the monotonic clock, if that is known.
    mutating func end(
        _ outcome: JobState.Outcome, intents made: [Intent], at time: Timestamp, took: Duration? = nil
    ) {
        switch outcome {
        case .processed:
            state = .processed
            failure = nil
        case .failed(let reason):
            state = .failed
            failure = reason
        }
        finishedAt = time
        original = made.last { $0.role == .original }?.target
        // The thing itself before what lies beside it.
        outputs = (made.filter { $0.role == .output } + made.filter { $0.role == .sidecar }).map(\.target)
        intents = []
        payload = nil
        inputs = nil
        slot = nil
        nextAttempt = nil
        history.append(Transition(state.rawValue, at: time, duration: took, note: failure?.summary))
    }
}
