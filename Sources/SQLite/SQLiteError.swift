import CSQLite

/// What SQLite refused, as <https://sqlite.org/rescode.html> has it.
package struct SQLiteError: Error, Sendable, Equatable, CustomStringConvertible {
    /// A primary result code.
    package enum Code: Int32, Sendable {
        case error = 1
        case permission = 3
        case abort, busy, locked, noMemory, readOnly, interrupt, io, corrupt
        case full = 13
        case cannotOpen, `protocol`
        case schema = 17
        case tooBig, constraint, mismatch, misuse, noLargeFiles, authorization
        case range = 25
        case notADatabase
    }

    /// The index of the log (`-shm`) found no room.
    package static let noRoomForIndex = SQLITE_IOERR | 19 << 8
    /// The database has to be rolled back first, which takes the right to write.
    package static let needsRollback = SQLITE_READONLY | 3 << 8

    /// The result code, with what tells its kind more closely.
    package let extendedCode: Int32
    package let message: String

    package init(_ extendedCode: Int32, _ message: String) {
        (self.extendedCode, self.message) = (extendedCode, message)
    }

    package init(_ code: Code, _ message: String) { self.init(code.rawValue, message) }

    /// What a connection says of the last call.
    init(_ code: Int32, of connection: OpaquePointer?) {
        self.init(code, String(cString: connection.map { sqlite3_errmsg($0) } ?? sqlite3_errstr(code)))
    }

    /// Nil where it is none of these, such as one of a newer SQLite.
    package var code: Code? { Code(rawValue: extendedCode & 0xFF) }

    package var description: String { "\(message) (SQLite error \(extendedCode))" }
}
