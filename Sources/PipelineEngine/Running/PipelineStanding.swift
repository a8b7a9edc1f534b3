public import PipelineKit

/// How one pipeline stands: its drops from the inbox to their ends.
public struct PipelineStanding: Sendable {
    /// The pipeline's name.
    public let pipeline: String
    /// Drops in its inbox that are not claimed yet, and late writers.
    public let waiting: Int
    /// Jobs that wait for a worker, for their next attempt, or for the end of a pause.
    public let queued: Int
    /// Jobs that a worker has.
    public let running: Int
    /// Jobs that are being settled.
    public let settling: Int
    /// Jobs that succeeded since the start.
    public let processed: Int
    /// Jobs that failed since the start.
    public let failed: Int
    /// Why it is paused; nil where it is not.
    public let paused: StageFailure?

    /// `others`: runners of earlier generations, and of work folders that it had before.
    init(_ runner: PipelineRunner, others: [PipelineRunner], inbox: InboxSnapshot?) {
        let all = [runner] + others
        let jobs = all.flatMap(\.machine.jobs.values)
        let settling = jobs.count { if case .settling = $0.state { true } else { false } }
        let running = min(all.flatMap(\.workers).reduce(0) { $0 + $1.running.count }, jobs.count - settling)
        pipeline = runner.pipeline.name
        waiting = inbox?.waiting ?? runner.waiting
        (self.running, self.settling) = (running, settling)
        queued = jobs.count - settling - running
        (processed, failed) = (runner.summary.processed, runner.summary.failed)
        paused = runner.machine.pause.isPaused ? runner.machine.pause.reason : inbox?.paused
    }
}
