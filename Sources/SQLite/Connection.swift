import CSQLite

/// A connection to a database; for one at a time.
package final class Connection {
    package enum Access: Sendable {
        case writing
        case reading
        /// The file does not change, and nothing is made beside it.
        case immutable
    }

    private let handle: OpaquePointer
    private var statements: [String: Statement] = [:]

    /// Some of what is asked has numbers in it.
    private static let mostStatements = 100

    /// Opens the database at this path; a missing one is made where it is for writing. What is locked is waited for,
    /// five seconds at most.
    package init(_ path: String, for access: Access) throws(SQLiteError) {
        let flags =
            switch access {
            case .writing: SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE
            case .reading: SQLITE_OPEN_READONLY
            case .immutable: SQLITE_OPEN_READONLY | SQLITE_OPEN_URI
            }
        let name = access == .immutable ? "file:\(Self.escaped(path))?immutable=1" : path
        var opened: OpaquePointer?
        let code = sqlite3_open_v2(name, &opened, flags | SQLITE_OPEN_NOMUTEX, nil)
        guard code == SQLITE_OK, let opened else {
            defer { sqlite3_close_v2(opened) }
            throw SQLiteError(code, of: opened)
        }
        handle = opened
        sqlite3_extended_result_codes(opened, 1)
        sqlite3_busy_timeout(opened, 5000)
    }

    // What is still prepared ends with its own owner.
    deinit { sqlite3_close_v2(handle) }

    /// A statement, prepared once.
    package func statement(_ sql: String) throws(SQLiteError) -> Statement {
        if let known = statements[sql], !known.isBusy { return known }
        let statement = try Statement(sql, of: handle)
        if statements.count >= Self.mostStatements { statements.removeAll() }
        statements[sql] = statement
        return statement
    }

    /// Runs all statements of a text that has no parameters.
    package func execute(_ sql: String) throws(SQLiteError) {
        let code = sqlite3_exec(handle, sql, nil, nil, nil)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: handle) }
    }

    /// Runs a statement.
    package func run(_ sql: String, _ values: (any Bindable)?...) throws {
        try statement(sql).run(Parameters(values))
    }

    /// Calls the body with one row after another, as long as that returns true.
    package func query(
        _ sql: String, _ parameters: Parameters = Parameters(), _ body: (Row) throws -> Bool
    ) throws {
        try statement(sql).query(parameters, body)
    }

    /// The values of the first row; nil where there is none.
    package func first(_ sql: String, _ values: (any Bindable)?...) throws -> [Value]? {
        var found: [Value]?
        try query(sql, Parameters(values)) { row in
            found = row.values
            return false
        }
        return found
    }

    /// The values of all rows.
    package func all(_ sql: String, _ values: (any Bindable)?...) throws -> [[Value]] {
        var rows: [[Value]] = []
        try query(sql, Parameters(values)) { row in
            rows.append(row.values)
            return true
        }
        return rows
    }

    /// Runs the body in a transaction, which it undoes by throwing. One that `isWriting` has the database from its
    /// beginning on; another sees it as it is at its first reading.
    package func transaction<Result>(isWriting: Bool, _ body: (Connection) throws -> Result) throws -> Result {
        try run(isWriting ? "BEGIN IMMEDIATE" : "BEGIN")
        do {
            let result = try body(self)
            try run("COMMIT")
            return result
        } catch {
            // Some errors have undone it by themselves.
            if sqlite3_get_autocommit(handle) == 0 { try? run("ROLLBACK") }
            throw error
        }
    }

    /// `SQLite 3.40.1`: of the library that this process runs with.
    package static var libraryVersion: String { "SQLite \(String(cString: sqlite3_libversion()))" }

    /// How many rows the last statement changed.
    package var changes: Int { Int(sqlite3_changes(handle)) }

    package var lastInsertedRow: Int64 { sqlite3_last_insert_rowid(handle) }

    /// Frees its page cache.
    package func releaseMemory() { sqlite3_db_release_memory(handle) }

    /// Keeps the log and its index when the last one closes it, so that who may only read need not make them.
    package func keepLog() throws(SQLiteError) {
        var isKept: Int32 = 1
        let code = sqlite3_file_control(handle, nil, SQLITE_FCNTL_PERSIST_WAL, &isKept)
        guard code == SQLITE_OK else { throw SQLiteError(code, of: handle) }
    }

    /// Makes another database the same as this one.
    package func copy(to other: Connection) throws(SQLiteError) {
        guard let backup = sqlite3_backup_init(other.handle, "main", handle, "main") else {
            throw SQLiteError(sqlite3_extended_errcode(other.handle), of: other.handle)
        }
        let step = sqlite3_backup_step(backup, -1)
        let end = sqlite3_backup_finish(backup)
        guard step == SQLITE_DONE, end == SQLITE_OK else {
            throw SQLiteError(end == SQLITE_OK ? step : end, of: other.handle)
        }
    }

    /// As SQLite's URIs have it.
    private static func escaped(_ path: String) -> String {
        var text = ""
        for character in path.unicodeScalars {
            switch character {
            case "%": text += "%25"
            case "?": text += "%3f"
            case "#": text += "%23"
            default: text.unicodeScalars.append(character)
            }
        }
        return text
    }
}
