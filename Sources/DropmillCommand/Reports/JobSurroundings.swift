import Journal
import PipelineKit

/// What jobs that are not over may wait for besides a worker: their pipeline, and a daemon at all.
struct JobSurroundings {
    private let pauses: [String: StageFailure]
    private let isRunning: Bool?

    /// `isRunning`: whether a daemon runs; nil where that cannot be told.
    init(of pipelines: [PipelineRecord] = [], isRunning: Bool? = nil) {
        pauses = Dictionary(pipelines.compactMap { record in record.paused.map { (record.name, $0) } }) { $1 }
        self.isRunning = isRunning
    }

    /// Why a job stands still, whatever its own state; nil where it goes on, or is over. What was paused when a daemon
    /// ended is not any more.
    func hindrance(of record: JobRecord) -> String? {
        if record.state.isFinal { return nil }
        if isRunning == false { return "no daemon is running" }
        return pause(of: record).map { "the pipeline is paused: \($0.summary)" }
    }

    /// Why the pipeline of a job that is not over is paused; nil where it is not.
    func pause(of record: JobRecord) -> StageFailure? {
        record.state.isFinal || isRunning == false ? nil : pauses[record.pipeline]
    }
}
