import Logging
import PipelineConfig
import PipelineEngine
import Synchronization

/// Turns the engine's events into log lines: one per state change, and for long stages a line that is redrawn in place.
struct JobLog: Sendable {
    private let logger: Logger
    /// As it was asked for.
    let format: LogSettings.Format
    private let scope: Scope
    private let progress: ProgressLine?

    /// A log. `progress` shows long stages; without it they are logged at level debug.
    init(
        logger: Logger, level: Logger.Level, format: LogSettings.Format = .auto, namesPipeline: Bool,
        progress: ProgressLine?
    ) {
        (self.logger, self.format) = (logger, format)
        scope = Scope(namesPipeline, level)
        self.progress = progress
    }

    /// Logs an event. Called several times for every job, so nothing is built for a level that is not logged.
    func record(_ event: EngineEvent) {
        updateProgress(event)
        // Those that were removed still have jobs that end.
        if case .reloaded(let changes, _) = event { scope.namesPipeline = changes.count > 1 }
        let level = Self.level(of: event)
        guard scope.level <= level else { return }
        let record = LogRecord(event, namesPipeline: scope.namesPipeline)
        logger.log(level: level, "\(record.message)", metadata: [LogRecord.key: .stringConvertible(record)])
    }

    /// Logs what is at least of that level from now on.
    func setLevel(_ level: Logger.Level) { scope.level = level }

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
        case .historyEnded, .pruned: .info
        case .archiving(let trouble), .pruning(_, let trouble): trouble == nil ? .info : .warning
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

/// What is logged, and whether lines about jobs say which pipeline they are of.
private final class Scope: Sendable {
    private let names: Atomic<Bool>
    private let lowest: Atomic<Int>

    init(_ names: Bool, _ level: Logger.Level) {
        self.names = Atomic(names)
        lowest = Atomic(Self.place(of: level))
    }

    var namesPipeline: Bool {
        get { names.load(ordering: .relaxed) }
        set { names.store(newValue, ordering: .relaxed) }
    }

    var level: Logger.Level {
        get { Logger.Level.allCases[lowest.load(ordering: .relaxed)] }
        set { lowest.store(Self.place(of: newValue), ordering: .relaxed) }
    }

    private static func place(of level: Logger.Level) -> Int { Logger.Level.allCases.firstIndex(of: level) ?? 0 }
}
