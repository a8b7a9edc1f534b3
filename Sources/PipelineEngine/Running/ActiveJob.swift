import PipelineKit
import SystemPackage

/// A job that is claimed and not over, as the engine knows it.
struct ActiveJob {
    let job: Job
    var payload: Payload
    var state: JobState
    /// Since when it is at work in this process.
    let begun: MonotonicTime
    var times: [JobReport.StageTime] = []
    /// The kind of the stage that ran last.
    var stage: String?
    /// How often that stage ran.
    var attempts = 0
    var progress = SettlementProgress()

    init(_ job: Job, state: JobState) {
        self.job = job
        self.state = state
        payload = Payload(dropOf: job)
        begun = .now()
    }

    mutating func ran(_ kind: String, for duration: Duration) {
        if stage == kind, let last = times.last, last.kind == kind {
            times[times.count - 1] = JobReport.StageTime(kind: kind, duration: last.duration + duration)
            attempts += 1
        } else {
            times.append(JobReport.StageTime(kind: kind, duration: duration))
            stage = kind
            attempts = 1
        }
    }

    /// The settlement of the job in its present state.
    func settlement(_ outcome: JobState.Outcome) -> Settlement {
        var report: FailureReport?
        if case .failed(let failure) = outcome {
            report = FailureReport(failure, of: job, stage: stage, attempts: attempts, at: .now())
        }
        return Settlement(job: job, payload: payload, outcome: outcome, report: report, progress: progress)
    }
}
