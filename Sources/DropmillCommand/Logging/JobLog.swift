import Logging
import PipelineEngine
import Synchronization

/// Turns the engine's events into log lines: one per state change, and for long stages a line that is redrawn in place.
struct JobLog: Sendable {
    private let logger: Logger
    private let naming: Naming
    private let progress: ProgressLine?

    /// A log. `progress` shows long stages; without it they are logged at level debug.
    init(logger: Logger, namesPipeline: Bool, progress: ProgressLine?) {
        self.logger = logger
        naming = Naming(namesPipeline)
        self.progress = progress
    }

    /// Logs an event. Called several times for every job, so nothing is built for a level that is not logged.
    func record(_ event: EngineEvent) {
        updateProgress(event)
        // Those that were removed still have jobs that end.
        if case .reloaded(let changes, _) = event { naming.set(changes.count > 1) }
        let level = Self.level(of: event)
        guard logger.logLevel <= level else { return }
        let record = LogRecord(event, namesPipeline: naming.isOn)
        logger.log(level: level, "\(record.message)", metadata: [LogRecord.key: .stringConvertible(record)])
    }

    /// Logs why the daemon does not start.
    func refuseStart(_ message: String) {
        let record = LogRecord("not_started", message, mark: .failed, fields: [])
        logger.log(level: .error, "\(message)", metadata: [LogRecord.key: .stringConvertible(record)])
    }

    static func level(of event: EngineEvent) -> Logger.Level {
        switch event {
        case .claimed, .stageStarted, .stageFinished, .stageProgress: .debug
        case .started, .stillWritten, .moving, .resumed, .lifted, .closed, .opened, .reloaded, .stopping,
            .watching(_, .events, _):
            .info
        case .writers(_, let means, _): means == .longerQuiet ? .warning : .info
        case .watching, .refused, .deferred, .paused, .stalled, .held, .warning: .warning
        case .trouble: .error
        case .settled(let report): report.hasFailed && !report.isCancelled ? .error : .info
        }
    }

    private func updateProgress(_ event: EngineEvent) {
        guard let progress else { return }
        switch event {
        case .stageProgress(let job, let stage, let running, let done):
            progress.show(job, stage: stage, running: running, done)
        case .stageFinished(let job, _, _), .deferred(let job, _, _, _): progress.remove(job.id)
        case .settled(let report): progress.remove(report.job.id)
        // The stage that found the trouble ended without an event; running ones will report progress again.
        case .paused(let pipeline, _): progress.remove(pipeline: pipeline)
        default: break
        }
    }
}

/// Whether lines about jobs say which pipeline they are of.
private final class Naming: Sendable {
    private let state: Atomic<Bool>
    init(_ isOn: Bool) { state = Atomic(isOn) }
    var isOn: Bool { state.load(ordering: .relaxed) }
    func set(_ isOn: Bool) { state.store(isOn, ordering: .relaxed) }
}
