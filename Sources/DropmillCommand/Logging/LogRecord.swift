import Logging

/// One log line before it is laid out: a sentence for people and fields for programs. It travels through `Logger` as
/// one metadata value, so that the fields keep their order and types.
struct LogRecord: Sendable, CustomStringConvertible {
    enum Value: Sendable {
        case text(String)
        /// A name or path.
        case bytes([UInt8])
        /// Paths.
        case list([[UInt8]])
        case integer(Int64)
        case seconds(Duration)
        /// Durations of stages, in order.
        case times([(name: String, duration: Duration)])
        case flag(Bool)
    }

    /// What the line opens with on a terminal.
    enum Mark: String, Sendable {
        case processed = "✓"
        case failed = "✗"
        case attention = "!"
        case plain = "·"
    }

    /// A field: its key in JSON and its value.
    typealias Field = (key: String, value: Value)

    /// The metadata key it travels under.
    static let key = "record"

    /// A stable word for programs: `processed`.
    let event: String
    let message: String
    /// For the terminal.
    let mark: Mark
    /// Sentences below the line: the reason, the remedy.
    let notes: [String]
    let fields: [Field]

    init(_ event: String, _ message: String, mark: Mark = .plain, notes: [String] = [], fields: [Field]) {
        self.event = event
        self.message = message
        self.mark = mark
        self.notes = notes.filter { !$0.isEmpty }
        self.fields = fields
    }

    var description: String { message }

    static func carried(by metadata: Logger.Metadata?) -> LogRecord? {
        guard case .stringConvertible(let value) = metadata?[key] else { return nil }
        return value as? LogRecord
    }
}
