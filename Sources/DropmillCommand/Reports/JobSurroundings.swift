import Files
import Journal
import PipelineKit

/// What unfinished jobs may wait for besides a worker: their pipeline, a person, or a daemon at all.
struct JobSurroundings {
    private let pauses: [String: Failure]
    private let holds: [String: HoldRecord]
    private let isRunning: Bool?
    /// The pipelines that the daemon runs; nil if unknown.
    var loaded: Set<String>?
    private let now: Timestamp

    /// `holds`: what people hold; `isRunning`: whether a daemon runs; nil if unknown.
    init(
        of pipelines: [PipelineRecord] = [], holds: [HoldRecord] = [], isRunning: Bool? = nil,
        at now: Timestamp = .now()
    ) {
        pauses = Dictionary(pipelines.compactMap { record in record.paused.map { (record.name, $0) } }) { $1 }
        self.holds = Dictionary(holds.map { ($0.pipeline, $0) }) { $1 }
        self.isRunning = isRunning
        self.now = now
    }

    /// By what the journal says.
    init(_ journal: any JournalReading, isRunning: Bool?) throws(JournalError) {
        self.init(of: try journal.pipelines(), holds: try journal.holds(), isRunning: isRunning)
    }

    /// Why a job makes no progress, whatever its state; nil if it does or is finished. What was paused when a daemon
    /// ended is not any more, but for what a person paused.
    func hindrance(of record: JobRecord) -> String? {
        if record.state.isFinal { return nil }
        let reasons = [
            isRunning == false ? "no daemon is running" : nil,
            isUnloaded(record) ? "the daemon does not run its pipeline '\(record.pipeline)'" : nil,
            hold(of: record)?.text(at: now),
            pause(of: record).map { "the pipeline is paused: \($0.summary)" },
        ]
        let all = reasons.compactMap { $0 }
        return all.isEmpty ? nil : all.joined(separator: "; ")
    }

    /// Whether a daemon runs, but not the pipeline of an unfinished job.
    func isUnloaded(_ record: JobRecord) -> Bool {
        guard !record.state.isFinal, isRunning == true, let loaded else { return false }
        return !loaded.contains(record.pipeline)
    }

    /// Why an unfinished job's pipeline is paused; nil if it is not.
    func pause(of record: JobRecord) -> Failure? {
        record.state.isFinal || isRunning == false ? nil : pauses[record.pipeline]
    }

    /// By what a person keeps a job from its next stage; nil where nobody does.
    func hold(of record: JobRecord) -> HoldRecord? {
        guard [.queued, .deferred].contains(record.state), let hold = holds[record.pipeline] else { return nil }
        return hold.kind == .pause && !hold.isOver(at: now) ? hold : nil
    }
}
