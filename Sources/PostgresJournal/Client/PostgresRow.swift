import CPostgres
import Files
import Journal
import PipelineKit

/// One row of an answer, read from the first column on.
struct PostgresRow {
    private let values: [String?]
    private var next = 0

    init(_ values: [String?]) { self.values = values }

    mutating func optionalText() -> String? {
        defer { next += 1 }
        return values.indices.contains(next) ? values[next] : nil
    }

    mutating func text() throws(JournalError) -> String {
        guard let text = optionalText() else { throw nonsense }
        return text
    }

    mutating func integer() throws(JournalError) -> Int64 {
        guard let number = Int64(try text()) else { throw nonsense }
        return number
    }

    mutating func optionalInteger() throws(JournalError) -> Int64? {
        guard let text = optionalText() else { return nil }
        guard let number = Int64(text) else { throw nonsense }
        return number
    }

    mutating func flag() throws(JournalError) -> Bool { try text() == "t" }

    mutating func bytes() throws(JournalError) -> [UInt8] {
        guard let bytes = [UInt8](postgres: try text()) else { throw nonsense }
        return bytes
    }

    mutating func json<Value>(_ read: (JSONValue) -> Value?) throws(JournalError) -> Value {
        guard let value = JSONValue(try text()).flatMap(read) else { throw nonsense }
        return value
    }

    mutating func id() throws(JournalError) -> JobID {
        guard let id = JobID(try text()) else { throw nonsense }
        return id
    }

    mutating func optionalID() throws(JournalError) -> JobID? {
        guard let text = optionalText() else { return nil }
        guard let id = JobID(text) else { throw nonsense }
        return id
    }

    var nonsense: JournalError {
        JournalError(
            .environment,
            "A row of the journal cannot be read (column \(next)); another program may have changed it. Restore the "
                + "database from its backup, or remove that row.")
    }
}
