import ArgumentParser
import Glibc
import Logging
import PipelineConfig

/// `--log-format` and `--log-level`.
struct LogArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case auto, text, json, journal
    }

    enum Level: String, CaseIterable, ExpressibleByArgument {
        case debug, info, warning, error

        var level: Logger.Level {
            switch self {
            case .debug: .debug
            case .info: .info
            case .warning: .warning
            case .error: .error
            }
        }
    }

    @Option(
        help: """
            Log lines as text, JSON or entries of the system's journal; auto: what standard error is (a terminal, the \
            journal), else JSON.
            """)
    var logFormat: Format = .auto

    @Option(help: "The lowest level that is logged.")
    var logLevel: Level = .info

    /// Where to log to: standard error, or the system's journal where that is it.
    func output() -> LogOutput {
        let isJournal = logFormat == .journal || logFormat == .auto && JournalSocket.isStandardError
        return LogOutput(
            descriptor: STDERR_FILENO, journal: isJournal ? JournalSocket(orElse: STDERR_FILENO) : nil)
    }

    func jobLog(on output: LogOutput, namesPipeline: Bool) -> JobLog {
        let level = logLevel.level
        if output.isJournal {
            let logger = Logger(label: "dropmill") { _ in JournalLogHandler(output: output, level: level) }
            return JobLog(logger: logger, namesPipeline: namesPipeline, progress: nil)
        }
        let isText = logFormat == .text || logFormat == .auto && output.isTerminal
        guard isText else {
            let logger = Logger(label: "dropmill") { _ in JSONLogHandler(output: output, level: level) }
            return JobLog(logger: logger, namesPipeline: namesPipeline, progress: nil)
        }
        // https://no-color.org: set and not empty.
        let colours = output.isTerminal && (Environment.variables["NO_COLOR"] ?? "").isEmpty
        let logger = Logger(label: "dropmill") { _ in TextLogHandler(output: output, level: level, colours: colours) }
        let progress = output.isTerminal && level <= .info ? ProgressLine(output: output) : nil
        return JobLog(logger: logger, namesPipeline: namesPipeline, progress: progress)
    }
}
