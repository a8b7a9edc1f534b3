import Files
import Logging

/// Writes entries of the system's journal: the sentences of a terminal, and each field of the event as `DROPMILL_…`.
struct JournalLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let output: LogOutput

    init(output: LogOutput, level: Logger.Level) {
        self.output = output
        logLevel = level
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let record = LogRecord.carried(by: event.metadata)
        let text = [event.message.description] + (record?.notes ?? [])
        var entry = JournalEntry(
            priority: Self.priority(of: event.level, record),
            message: text.map { EscapedText.printable($0) }.joined(separator: "\n"))
        if let record {
            entry.add("MESSAGE_ID", Array(Self.messageID(of: record.event).utf8))
            entry.add("DROPMILL_EVENT", Array(record.event.utf8))
            for (key, value) in record.fields {
                for value in Self.values(of: value) { entry.add("DROPMILL_\(key.uppercased())", value) }
            }
        }
        output.write(entry.packed)
    }

    /// A failed job is no error of the daemon.
    private static func priority(of level: Logger.Level, _ record: LogRecord?) -> Int {
        switch level {
        case .error, .critical: record?.event == "failed" ? 4 : 3
        case .warning: 4
        case .notice: 5
        case .info: 6
        case .debug, .trace: 7
        }
    }

    /// The same for all entries of an event: our number, and the event's (FNV-1a).
    static func messageID(of event: String) -> String {
        let hash = event.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        let digits = String(hash, radix: 16)
        return "7a1c5e90d2b84f36" + String(repeating: "0", count: 16 - digits.count) + digits
    }

    private static func values(of value: LogRecord.Value) -> [[UInt8]] {
        switch value {
        case .text(let text): text.isEmpty ? [] : [Array(text.utf8)]
        case .bytes(let bytes): [bytes]
        case .list(let paths): paths
        case .integer(let number): [Array("\(number)".utf8)]
        case .seconds(let duration): [Array("\(duration.seconds)".utf8)]
        case .flag(let flag): [Array((flag ? "1" : "0").utf8)]
        case .times(let times): times.map { Array("\($0.name) \($0.duration.seconds)".utf8) }
        }
    }
}
