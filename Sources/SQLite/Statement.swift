import CSQLite

/// A prepared statement of a connection; belongs to whoever uses that.
package final class Statement {
    private let handle: OpaquePointer
    private let connection: OpaquePointer

    init(_ sql: String, of connection: OpaquePointer) throws(SQLiteError) {
        var handle: OpaquePointer?
        let code = sqlite3_prepare_v3(connection, sql, -1, UInt32(SQLITE_PREPARE_PERSISTENT), &handle, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: connection) }
        guard let handle else { throw SQLiteError(.misuse, "there is no statement in '\(sql)'") }
        (self.handle, self.connection) = (handle, connection)
    }

    deinit { sqlite3_finalize(handle) }

    /// Whether its rows are being read.
    var isBusy: Bool { sqlite3_stmt_busy(handle) != 0 }

    /// Runs it, whatever rows it has.
    package func run(_ parameters: Parameters) throws { try query(parameters) { _ in false } }

    package func run(_ values: (any Bindable)?...) throws { try run(Parameters(values)) }

    /// Calls the body with one row after another, as long as that returns true.
    package func query(_ parameters: Parameters, _ body: (Row) throws -> Bool) throws {
        try parameters.bytes.withUnsafeBytes { bytes in
            defer {
                // What this returns is what the last step did.
                sqlite3_reset(handle)
                sqlite3_clear_bindings(handle)
            }
            try bind(parameters.places, in: bytes)
            while true {
                switch sqlite3_step(handle) {
                case SQLITE_ROW: guard try body(Row(handle)) else { return }
                case SQLITE_DONE: return
                case let code: throw SQLiteError(code, of: connection)
                }
            }
        }
    }

    private func bind(_ places: [Parameters.Place], in bytes: UnsafeRawBufferPointer) throws(SQLiteError) {
        guard let start = bytes.baseAddress else { return }
        var number: Int32 = 0
        for place in places {
            number += 1
            let code =
                switch place {
                case .null: sqlite3_bind_null(handle, number)
                case .integer(let integer): sqlite3_bind_int64(handle, number, integer)
                // No destructor: the bytes stay where they are until the bindings are cleared.
                case .text(let range):
                    sqlite3_bind_text64(
                        handle, number, (start + range.lowerBound).assumingMemoryBound(to: CChar.self),
                        UInt64(range.count), nil, UInt8(SQLITE_UTF8))
                case .blob(let range):
                    sqlite3_bind_blob64(handle, number, start + range.lowerBound, UInt64(range.count), nil)
                }
            guard code == SQLITE_OK else { throw SQLiteError(code, of: connection) }
        }
    }
}
