package import Journal
package import PipelineKit

/// As many records as one answer may hold.
package struct RecordPage: Codable, Sendable, Equatable {
    package var records: [JSONValue]
    /// Whether there are more behind them.
    package var more: Bool
    /// Of jobs, where the page is not full and yet not the last: down to which time it was looked for them, in
    /// nanoseconds since 1970.
    package var horizon: Int64?

    /// How many records it holds at most.
    private static let most = 200
    /// Bytes from which on it takes no further one.
    private static let fullSize = 1 << 20
    /// The largest record that an answer has room for, in bytes.
    private static let largest = 4 << 20

    /// How many it holds where so many are asked for.
    package static func limit(_ asked: Int?) throws(ControlProblem) -> Int {
        guard asked ?? 0 >= 0 else { throw ControlProblem("'limit' is \(asked ?? 0), and must be 0 or more") }
        return min(asked ?? most, most)
    }

    /// `all`: one more than it holds where there are more; `limit`: how many are asked for.
    package init<Record>(
        _ all: some Sequence<Record>, limit: Int, _ write: (inout JSONText, Record) -> Void
    ) throws(ControlProblem) {
        (records, more) = ([], false)
        var size = 0
        for record in all {
            guard records.count < limit, size < Self.fullSize else {
                more = true
                return
            }
            var json = JSONText()
            write(&json, record)
            guard json.bytes.count <= Self.largest, let value = JSONValue(json.string) else {
                throw ControlProblem("a record is too large to be told of; the daemon's user and root can read it")
            }
            size += json.bytes.count
            records.append(value)
        }
    }
}
