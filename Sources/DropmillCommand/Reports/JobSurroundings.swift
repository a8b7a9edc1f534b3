import Journal
import PipelineKit

/// What unfinished jobs may wait for besides a worker: their pipeline, or a daemon at all.
struct JobSurroundings {
    private let pauses: [String: Failure]
    private let isRunning: Bool?

    /// `isRunning`: whether a daemon runs; nil if unknown.
    init(of pipelines: [PipelineRecord] = [], isRunning: Bool? = nil) {
        pauses = Dictionary(pipelines.compactMap { record in record.paused.map { (record.name, $0) } }) { $1 }
        self.isRunning = isRunning
    }

    /// Why a job makes no progress, whatever its state; nil if it does or is finished. What was paused when a daemon
    /// ended is not any more.
    func hindrance(of record: JobRecord) -> String? {
        if record.state.isFinal { return nil }
        if isRunning == false { return "no daemon is running" }
        return pause(of: record).map { "the pipeline is paused: \($0.summary)" }
    }

    /// Why an unfinished job's pipeline is paused; nil if it is not.
    func pause(of record: JobRecord) -> Failure? {
        record.state.isFinal || isRunning == false ? nil : pauses[record.pipeline]
    }
}
