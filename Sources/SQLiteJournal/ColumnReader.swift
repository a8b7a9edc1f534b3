import Files
import Journal
import SQLite
import SystemPackage

/// Reads a row's columns from left to right. A damaged journal may have any value in any of them.
struct ColumnReader {
    private let column: (Int) -> Value
    private var next = 0
    /// Whose row it is, for errors.
    var subject = "a row"

    init(_ row: Row) { column = { row[$0] } }

    /// The same for values without a row; those that are missing at the end are NULL.
    init(_ values: [Value]) { column = { $0 < values.count ? values[$0] : .null } }

    mutating func optionalText(_ name: String) throws(JournalError) -> String? {
        switch value() {
        case .text(let text): return text
        case .null: return nil
        default: throw nonsense(name)
        }
    }

    mutating func text(_ name: String) throws(JournalError) -> String {
        guard let text = try optionalText(name) else { throw nonsense(name) }
        return text
    }

    mutating func optionalInteger(_ name: String) throws(JournalError) -> Int64? {
        switch value() {
        case .integer(let number): return number
        case .null: return nil
        default: throw nonsense(name)
        }
    }

    mutating func integer(_ name: String) throws(JournalError) -> Int64 {
        guard let number = try optionalInteger(name) else { throw nonsense(name) }
        return number
    }

    mutating func bytes(_ name: String) throws(JournalError) -> [UInt8]? {
        switch value() {
        case .blob(let bytes): return bytes
        case .null: return nil
        default: throw nonsense(name)
        }
    }

    mutating func time(_ name: String) throws(JournalError) -> Timestamp {
        Timestamp(nanoseconds: try integer(name))
    }

    mutating func optionalTime(_ name: String) throws(JournalError) -> Timestamp? {
        try optionalInteger(name).map { Timestamp(nanoseconds: $0) }
    }

    mutating func json<Result>(_ name: String, _ read: (JSONValue) -> Result?) throws(JournalError) -> Result? {
        guard let text = try optionalText(name) else { return nil }
        guard let value = JSONValue(text).flatMap(read) else { throw nonsense(name) }
        return value
    }

    func nonsense(_ name: String) -> JournalError {
        JournalError(.corrupt, "The journal is damaged: \(subject) has an invalid '\(name)'.")
    }

    private mutating func value() -> Value {
        defer { next += 1 }
        return column(next)
    }
}
