import CSQLite

/// A row that a statement has come to; it is another one's after the next step.
package struct Row {
    private let statement: OpaquePointer

    init(_ statement: OpaquePointer) { self.statement = statement }

    package var count: Int { Int(sqlite3_column_count(statement)) }

    /// A column's value; NULL where there is no such column.
    package subscript(column: Int) -> Value {
        let column = Int32(truncatingIfNeeded: column)
        switch sqlite3_column_type(statement, column) {
        case SQLITE_INTEGER: return .integer(sqlite3_column_int64(statement, column))
        case SQLITE_FLOAT: return .real(sqlite3_column_double(statement, column))
        case SQLITE_TEXT:
            let start = sqlite3_column_text(statement, column)
            let bytes = UnsafeBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
            return .text(String(decoding: bytes, as: UTF8.self))
        case SQLITE_BLOB:
            let start = sqlite3_column_blob(statement, column)
            let bytes = UnsafeRawBufferPointer(start: start, count: Int(sqlite3_column_bytes(statement, column)))
            return .blob(Array(bytes))
        default: return .null
        }
    }

    /// All columns' values.
    package var values: [Value] { (0..<count).map { self[$0] } }
}
