import Files
import GRDB
import Journal
import SystemPackage

/// Reads a row's columns from left to right. GRDB's own subscripts trap where a value is of another type; a damaged
/// journal must be reported instead.
struct ColumnReader {
    private let column: (Int) -> DatabaseValue
    private var next = 0
    /// Whose row it is, for errors.
    var subject = "a row"

    init(_ row: Row) { column = { row[$0] } }

    /// The same for values without a row; those that are missing at the end are NULL.
    init(_ values: [DatabaseValue]) { column = { $0 < values.count ? values[$0] : .null } }

    mutating func optionalText(_ name: String) throws(JournalError) -> String? {
        switch value().storage {
        case .string(let text): return text
        case .null: return nil
        default: throw nonsense(name)
        }
    }

    mutating func text(_ name: String) throws(JournalError) -> String {
        guard let text = try optionalText(name) else { throw nonsense(name) }
        return text
    }

    mutating func optionalInteger(_ name: String) throws(JournalError) -> Int64? {
        switch value().storage {
        case .int64(let number): return number
        case .null: return nil
        default: throw nonsense(name)
        }
    }

    mutating func integer(_ name: String) throws(JournalError) -> Int64 {
        guard let number = try optionalInteger(name) else { throw nonsense(name) }
        return number
    }

    mutating func bytes(_ name: String) throws(JournalError) -> [UInt8]? {
        switch value().storage {
        case .blob(let data): return Array(data)
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

    mutating func json<Value>(_ name: String, _ read: (JSONValue) -> Value?) throws(JournalError) -> Value? {
        guard let text = try optionalText(name) else { return nil }
        guard let value = JSONValue(text).flatMap(read) else { throw nonsense(name) }
        return value
    }

    func nonsense(_ name: String) -> JournalError {
        JournalError(.corrupt, "The journal is damaged: \(subject) has an invalid '\(name)'.")
    }

    private mutating func value() -> DatabaseValue {
        defer { next += 1 }
        return column(next)
    }
}
