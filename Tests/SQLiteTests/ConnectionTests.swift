import Files
import SystemPackage
import TestSupport
import Testing

@testable import SQLite

/// What goes into a database, comes out of it, and is refused.
@Suite struct ConnectionTests {
    private let scratch: ScratchFolder
    private var path: String { scratch.path("a.sqlite").string }

    init() throws { scratch = try ScratchFolder() }

    private func connect() throws -> Connection { try Connection(path, for: .writing) }

    private func code(_ body: () throws -> Void) -> SQLiteError.Code? {
        do {
            try body()
            return nil
        } catch {
            return (error as? SQLiteError)?.code
        }
    }

    @Test func valuesComeBackAsTheyWere() throws {
        let db = try connect()
        try db.execute("CREATE TABLE t (a, b, c, d, e, f, g, h)")
        let text = "ü\u{0}'; DROP TABLE t; --"
        try db.run(
            "INSERT INTO t VALUES (?, ?, ?, ?, ?, ?, ?, ?)", Int64.min, true, text, [UInt8](0...255), nil as String?,
            "",
            [UInt8](), 7)
        let row = try db.first("SELECT a, b, c, d, e, f, g, h + 0.5 FROM t")
        #expect(
            row == [
                .integer(.min), .integer(1), .text(text), .blob(Array(0...255)), .null, .text(""), .blob([]),
                .real(7.5),
            ])
        #expect(try db.first("SELECT 1 FROM t WHERE c = ?", text) != nil)
        #expect(try db.first("SELECT 1 FROM t WHERE a = 5") == nil)
    }

    @Test func oneRowOfParametersServesAfterAnother() throws {
        let db = try connect()
        try db.execute("CREATE TABLE t (a TEXT, b BLOB)")
        let insert = try db.statement("INSERT INTO t VALUES (?, ?)")
        var values = Parameters()
        for number in 0..<3 {
            values.removeAll()
            values.text(String(repeating: "a", count: number))
            values.blob(number == 1 ? [] : [UInt8(number)])
            try insert.run(values)
        }
        #expect(
            try db.all("SELECT a, b FROM t ORDER BY rowid") == [
                [.text(""), .blob([0])], [.text("a"), .blob([])], [.text("aa"), .blob([2])],
            ])
    }

    @Test func readingEndsWhereItIsToldTo() throws {
        let db = try connect()
        var numbers: [Int64] = []
        let sql = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT i FROM n"
        for _ in 0..<2 {
            try db.query(sql) { row in
                numbers.append(row[0].integer ?? 0)
                #expect(row.count == 1 && row[1] == .null && row[-1] == .null)
                return numbers.count % 3 != 0
            }
        }
        #expect(numbers == [1, 2, 3, 1, 2, 3])
    }

    @Test func aStatementServesWithinItself() throws {
        let db = try connect()
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        var seen: [Int] = []
        try db.query("SELECT a FROM t") { _ in
            seen.append(try db.all("SELECT a FROM t").count)
            return true
        }
        #expect(seen == [2, 2])
    }

    @Test func whatIsThrownUndoesATransaction() throws {
        struct Stop: Error {}
        let db = try connect()
        try db.execute("CREATE TABLE t (a UNIQUE)")
        #expect(throws: Stop.self) {
            try db.transaction(isWriting: true) { db in
                try db.run("INSERT INTO t VALUES (1)")
                throw Stop()
            }
        }
        #expect(try db.first("SELECT count(*) FROM t") == [.integer(0)])
        try db.transaction(isWriting: true) { try $0.run("INSERT INTO t VALUES (?)", 1) }
        #expect(db.changes == 1 && db.lastInsertedRow == 1)
        let error = #expect(throws: SQLiteError.self) { try db.run("INSERT INTO t VALUES (?)", 1) }
        #expect(error?.code == .constraint && error?.extendedCode == 2067)
        #expect(error?.description == "UNIQUE constraint failed: t.a (SQLite error 2067)")
        // The statement serves again.
        try db.run("INSERT INTO t VALUES (?)", 2)
    }

    /// Waiting would be in vain: what was read is no longer so.
    @Test func whoReadBeforeAnotherWroteIsBusy() throws {
        let (db, other) = (try connect(), try connect())
        try db.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a)")
        let error = #expect(throws: SQLiteError.self) {
            try db.transaction(isWriting: false) { db in
                #expect(try db.all("SELECT a FROM t") == [])
                try other.run("INSERT INTO t VALUES (1)")
                try db.run("INSERT INTO t VALUES (2)")
            }
        }
        #expect(error?.code == .busy && error?.extendedCode == 517)
        try db.run("INSERT INTO t VALUES (3)")
        #expect(try other.all("SELECT a FROM t") == [[.integer(1)], [.integer(3)]])
    }

    @Test func whatIsRefusedSaysWhy() throws {
        #expect(code { _ = try Connection(scratch.path("none/a").string, for: .writing) } == .cannotOpen)
        #expect(code { _ = try Connection(path, for: .reading) } == .cannotOpen)
        let db = try connect()
        try db.execute("CREATE TABLE t (a)")
        #expect(code { try db.execute("CREATE TABLE u (a); nonsense") } == .error)
        #expect(code { try db.run("SELECT * FROM nothing") } == .error)
        #expect(code { try db.run("  ") } == .misuse)
        #expect(code { try db.run("SELECT ?", 1, 2) } == .range)
        let reader = try Connection(path, for: .reading)
        #expect(code { try reader.run("INSERT INTO t VALUES (1)") } == .readOnly)
        try scratch.write(String(repeating: "no database ", count: 100), to: "b.sqlite")
        let other = try Connection(scratch.path("b.sqlite").string, for: .writing)
        #expect(code { _ = try other.first("SELECT * FROM sqlite_master") } == .notADatabase)
    }

    @Test func nothingIsMadeBesideOneThatDoesNotChange() throws {
        // With what has a meaning in a URI.
        let name = "a?b#c%41.sqlite"
        let path = scratch.path(name).string
        do {
            let db = try Connection(path, for: .writing)
            try db.execute("PRAGMA journal_mode = WAL; CREATE TABLE t (a); INSERT INTO t VALUES (1)")
        }
        #expect(try scratch.tree() == [name])
        let reader = try Connection(path, for: .immutable)
        #expect(try reader.first("SELECT a FROM t") == [.integer(1)])
        #expect(try scratch.tree() == [name])
    }

    @Test func aCopyHasAllThatIsThere() throws {
        let db = try connect()
        try db.execute("CREATE TABLE t (a); INSERT INTO t VALUES (1), (2)")
        let copy = try Connection(scratch.path("copy").string, for: .writing)
        try db.copy(to: copy)
        #expect(try copy.all("SELECT a FROM t") == [[.integer(1)], [.integer(2)]])
        let reader = try Connection(scratch.path("copy").string, for: .reading)
        #expect(code { try db.copy(to: reader) } == .readOnly)
    }
}
