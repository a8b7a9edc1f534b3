import Files
import Logging
import PipelineKit

/// Writes one JSON object per line: `time`, `level`, `event`, `message`, then the event's own fields.
struct JSONLogHandler: LogHandler {
    var logLevel: Logger.Level
    var metadata: Logger.Metadata = [:]
    var metadataProvider: Logger.MetadataProvider?
    private let output: LogOutput
    private let now: @Sendable () -> Timestamp

    /// A handler. `now` is the clock that lines are stamped by.
    init(output: LogOutput, level: Logger.Level, now: @escaping @Sendable () -> Timestamp = { .now() }) {
        self.output = output
        logLevel = level
        self.now = now
    }

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        var line: [UInt8] = []
        // As much as most lines take.
        line.reserveCapacity(512)
        var json = JSONText(after: consume line)
        json.object { json in
            json.text("time", now().iso8601)
            json.text("level", event.level.rawValue)
            let record = LogRecord.carried(by: event.metadata)
            json.text("event", record?.event ?? "log")
            json.text("message", event.message.description)
            for (key, value) in record?.fields ?? [] { Self.write(value, key, &json) }
        }
        json.newline()
        output.write(json.bytes)
    }

    private static func write(_ value: LogRecord.Value, _ key: String, _ json: inout JSONText) {
        switch value {
        case .text(let text): json.text(key, text)
        case .bytes(let bytes): json.name(key, bytes)
        case .integer(let number): json.integer(key, number)
        case .seconds(let duration): json.seconds(key, duration)
        case .flag(let flag): json.flag(key, flag)
        case .list(let paths): json.names(key, paths)
        case .times(let times):
            // A kind may occur twice, so this is not an object.
            json.array(key) { json in
                for time in times {
                    json.object { json in
                        json.text("kind", time.name)
                        json.seconds("duration_s", time.duration)
                    }
                }
            }
        }
    }
}
