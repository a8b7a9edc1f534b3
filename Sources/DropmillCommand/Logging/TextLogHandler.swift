import Files
import Logging

/// Writes lines for people: the time, a mark, what happened; reason and remedy indented below. Colours only where asked
/// for.
struct TextLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let output: LogOutput
    private let colours: Bool
    private let now: @Sendable () -> Timestamp

    /// A handler. `now` is the clock that lines are stamped by.
    init(
        output: LogOutput, level: Logger.Level, colours: Bool, now: @escaping @Sendable () -> Timestamp = { .now() }
    ) {
        self.output = output
        logLevel = level
        self.colours = colours
        self.now = now
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let record = LogRecord.carried(by: event.metadata)
        let mark = record?.mark ?? (event.level >= .warning ? .attention : .plain)
        let message = EscapedText.printable(event.message.description)
        var line = "\(dim(now().formatted("%H:%M:%S"))) \(painted(mark)) "
        line += event.level >= .warning ? bold(message) : message
        line += "\n"
        for note in record?.notes ?? [] { line += "           \(EscapedText.printable(note))\n" }
        output.write(Array(line.utf8))
    }

    private func painted(_ mark: LogRecord.Mark) -> String {
        guard colours else { return mark.rawValue }
        return switch mark {
        case .processed: "\u{1B}[32m\(mark.rawValue)\u{1B}[0m"
        case .failed: "\u{1B}[31m\(mark.rawValue)\u{1B}[0m"
        case .attention: "\u{1B}[33m\(mark.rawValue)\u{1B}[0m"
        case .plain: dim(mark.rawValue)
        }
    }

    private func dim(_ text: String) -> String { colours ? "\u{1B}[2m\(text)\u{1B}[0m" : text }

    private func bold(_ text: String) -> String { colours ? "\u{1B}[1m\(text)\u{1B}[0m" : text }
}
