import Logging
import PipelineKit

/// Writes lines for people: the time, a mark, what happened; reason and remedy indented below. Colours only where asked for.
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
        let message = PrintableText.of(event.message.description)
        var line = "\(dim(now().formatted("%H:%M:%S"))) \(painted(mark)) "
        line += event.level >= .warning ? bold(message) : message
        line += "\n"
        for note in record?.notes ?? [] { line += "           \(PrintableText.of(note))\n" }
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

/// The last gate before a terminal: names come escaped, and should any other text hold a control it is escaped here.
enum PrintableText {
    /// The text, without controls.
    static func of(_ text: String) -> String {
        func isControl(_ scalar: Unicode.Scalar) -> Bool { scalar.value < 0x20 || (0x7F...0x9F).contains(scalar.value) }
        guard text.unicodeScalars.contains(where: isControl) else { return text }
        return text.unicodeScalars.map { isControl($0) ? EscapedText.of(String($0)) : String($0) }.joined()
    }
}
