import ArgumentParser
import Logging
import PipelineConfig

/// `--log-format` and `--log-level`.
struct LogArguments: ParsableArguments {
    enum Format: String, CaseIterable, ExpressibleByArgument {
        case auto, text, json
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

    @Option(help: "Log lines as text or JSON; auto: text on a terminal, else JSON.")
    var logFormat: Format = .auto

    @Option(help: "The lowest level that is logged.")
    var logLevel: Level = .info

    func jobLog(on output: LogOutput, namesPipeline: Bool) -> JobLog {
        let level = logLevel.level
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
