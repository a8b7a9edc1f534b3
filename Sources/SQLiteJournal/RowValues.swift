import GRDB
import GRDBSQLite
import PipelineKit
import SystemPackage

/// The values of one row, column by column, as SQLite takes them. All that is text or bytes lies in one buffer, which
/// serves row after row and which SQLite reads in place.
///
/// GRDB's own arguments would hold each value as a String or Data, box it and have SQLite copy it: for a job's row that
/// takes several times as long as SQLite needs to write it. So these are bound, and the statement run, by SQLite's
/// calls.
struct RowValues {
    private enum Value {
        case null
        case integer(Int64)
        case text(Range<Int>)
        case blob(Range<Int>)
    }

    private var values: [Value] = []
    private var bytes: [UInt8] = []

    mutating func removeAll() {
        values.removeAll(keepingCapacity: true)
        bytes.removeAll(keepingCapacity: true)
    }

    mutating func null() { values.append(.null) }

    mutating func integer(_ value: Int64?) { values.append(value.map { .integer($0) } ?? .null) }

    mutating func integer(_ value: Int) { values.append(.integer(Int64(value))) }

    mutating func text(_ value: String?) {
        guard var value else { return null() }
        values.append(.text(add { bytes in value.withUTF8 { bytes += $0 } }))
    }

    mutating func blob(_ value: [UInt8]) { values.append(.blob(add { $0 += value })) }

    mutating func blob(_ path: FilePath?) {
        guard let path else { return null() }
        values.append(.blob(add { bytes in path.withBytes { bytes += $0 } }))
    }

    /// What `write` says of a value; NULL where there is none.
    mutating func json<Value>(_ value: Value?, _ write: (inout JSONText, Value) -> Void) {
        guard let value else { return null() }
        let range = add { bytes in
            var json = JSONText(after: bytes)
            // It is the only owner while it writes, so that nothing is copied.
            bytes = []
            write(&json, value)
            bytes = json.bytes
        }
        values.append(.text(range))
    }

    /// A list; NULL where it is empty.
    mutating func json<Element>(all elements: [Element], _ write: (inout JSONText, Element) -> Void) {
        json(elements.isEmpty ? nil : elements) { json, elements in
            json.array { json in
                for place in elements.indices { write(&json, elements[place]) }
            }
        }
    }

    /// Runs a statement that returns no rows with these values as its parameters, from the first on.
    func execute(_ statement: Statement, in db: Database) throws {
        let code = bytes.withUnsafeBytes { execute(statement.sqliteStatement, with: $0) }
        guard code == SQLITE_DONE else {
            throw DatabaseError(
                resultCode: ResultCode(rawValue: code),
                message: String(cString: sqlite3_errmsg(db.sqliteConnection)), sql: statement.sql)
        }
    }

    private func execute(_ statement: SQLiteStatement, with bytes: UnsafeRawBufferPointer) -> CInt {
        defer {
            // What it returns is what the step did.
            sqlite3_reset(statement)
            sqlite3_clear_bindings(statement)
        }
        var place: CInt = 0
        for value in values {
            place += 1
            let code =
                switch value {
                case .null: sqlite3_bind_null(statement, place)
                case .integer(let number): sqlite3_bind_int64(statement, place, number)
                // No destructor: the bytes stay where they are until the bindings are cleared.
                case .text(let range):
                    sqlite3_bind_text64(
                        statement, place,
                        bytes.baseAddress.map { ($0 + range.lowerBound).assumingMemoryBound(to: CChar.self) },
                        UInt64(range.count), nil, UInt8(SQLITE_UTF8))
                case .blob(let range):
                    sqlite3_bind_blob64(
                        statement, place, bytes.baseAddress.map { $0 + range.lowerBound }, UInt64(range.count), nil)
                }
            if code != SQLITE_OK { return code }
        }
        return sqlite3_step(statement)
    }

    /// What a value is, where it lies.
    enum Held {
        case null
        case integer(Int64)
        case text(Slice<UnsafeRawBufferPointer>)
        case blob(Slice<UnsafeRawBufferPointer>)
    }

    /// Calls the body with each value, in order.
    func forEach(_ body: (Held) -> Void) {
        bytes.withUnsafeBytes { bytes in
            for value in values {
                switch value {
                case .null: body(.null)
                case .integer(let number): body(.integer(number))
                case .text(let range): body(.text(bytes[range]))
                case .blob(let range): body(.blob(bytes[range]))
                }
            }
        }
    }

    private mutating func add(_ write: (inout [UInt8]) -> Void) -> Range<Int> {
        let start = bytes.count
        write(&bytes)
        return start..<bytes.count
    }
}
