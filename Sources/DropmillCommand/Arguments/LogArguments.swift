import ArgumentParser
import Glibc
import Logging
import PipelineConfig

/// `--log-format` and `--log-level`.
struct LogArguments: ParsableArguments {
    @Option(
        help: """
            Log lines as text, JSON or entries of the system's journal; auto: what standard error is (a terminal, the \
            journal), else JSON. (default: as 'log' in dropmill.yaml says, else auto)
            """)
    var logFormat: LogSettings.Format?

    @Option(help: "The lowest level that is logged. (default: as 'log' in dropmill.yaml says, else info)")
    var logLevel: LogSettings.Level?
}

extension LogSettings.Format: ExpressibleByArgument {}
extension LogSettings.Level: ExpressibleByArgument {}

extension LogSettings {
    /// As the log's handlers call it.
    var lowest: Logger.Level {
        switch level ?? .info {
        case .debug: .debug
        case .info: .info
        case .warning: .warning
        case .error: .error
        }
    }

    /// Where to log to: standard error, or the system's journal where that is it.
    func output() -> LogOutput {
        let format = format ?? .auto
        let isJournal = format == .journal || format == .auto && JournalSocket.isStandardError
        return LogOutput(
            descriptor: STDERR_FILENO, journal: isJournal ? JournalSocket(orElse: STDERR_FILENO) : nil)
    }

    func jobLog(on output: LogOutput, namesPipeline: Bool) -> JobLog {
        let format = format ?? .auto
        let isText = !output.isJournal && (format == .text || format == .auto && output.isTerminal)
        // https://no-color.org: set and not empty.
        let colours = output.isTerminal && (Environment.variables["NO_COLOR"] ?? "").isEmpty
        // Which level is logged may change, so the log itself looks to that.
        let logger = Logger(label: "dropmill") { _ -> any LogHandler in
            if output.isJournal { return JournalLogHandler(output: output, level: .trace) }
            if !isText { return JSONLogHandler(output: output, level: .trace) }
            return TextLogHandler(output: output, level: .trace, colours: colours)
        }
        let progress = isText && output.isTerminal && lowest <= .info ? ProgressLine(output: output) : nil
        return JobLog(logger: logger, level: lowest, format: format, namesPipeline: namesPipeline, progress: progress)
    }
}
