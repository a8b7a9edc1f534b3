import Files
import GRDB
import GRDBSQLite
import Glibc
package import Journal
package import SystemPackage

extension SQLiteJournal {
    /// Opens the journal in a state folder for writing, and makes it where there is none.
    ///
    /// `durable: false` leaves it to the kernel when commits reach the disk: after a power cut the latest may be
    /// missing. `checking` looks for damage; a program that only adds a line beside a running daemon need not.
    package static func open(
        writing folder: FilePath, durable: Bool, checking: Bool = true
    ) throws(JournalError) -> SQLiteJournal {
        let path = file(in: folder)
        if case .network(let kind) = FileSystemKind.of(folder) {
            throw JournalError(
                .environment,
                "The state folder '\(folder.text)' is on \(kind), where the journal's locks and shared memory are "
                    + "not reliable. Choose a folder on a local disk with --state-dir.")
        }
        guard hasRoom(path) else { throw noRoom(path) }
        do {
            let name = try text(of: path)
            if Folder.kind(of: path) == nil { try create(path) } else { try inspect(name, path, checking: checking) }
            let pool = try DatabasePool(path: name, configuration: configuration())
            try Migrations.all.migrate(pool)
            // GRDB sets NORMAL while it opens, so this comes after, and is not believed but read back.
            try pool.writeWithoutTransaction { db in try setUp(db, durable: durable, path) }
            let journal = SQLiteJournal(path: path, reader: pool, writer: pool, isDurable: durable)
            try journal.learn()
            return journal
        } catch {
            throw JournalError(error, "open", path)
        }
    }

    /// Opens the journal in a state folder for reading, whether a daemon writes to it meanwhile or not.
    package static func open(reading folder: FilePath) throws(JournalError) -> SQLiteJournal {
        let path = file(in: folder)
        guard Folder.kind(of: path, followingLinks: true) != nil || Errno.last == .permissionDenied else {
            throw JournalError(
                .missing,
                "There is no journal in '\(folder.text)'; 'dropmill run' creates it, and --state-dir says where it is.")
        }
        do {
            let hasRoom = hasRoom(path)
            let path = try text(of: path)
            let queue: DatabaseQueue
            do {
                guard hasRoom else { throw DatabaseError(resultCode: .SQLITE_FULL) }
                queue = try openForReading(path)
            } catch let error as DatabaseError
                where [.SQLITE_CANTOPEN, .SQLITE_READONLY, .SQLITE_FULL].contains(error.resultCode)
            {
                // Even a reader makes the files `-wal` and `-shm` where they are missing, which takes the right to
                // write to the folder. If they are missing nothing writes, so the database is complete by itself.
                guard isAtRest(path) else { throw hasRoom ? error : noRoom(FilePath(path)) as any Error }
                queue = try openForReading("file:\(escaped(path))?immutable=1")
            }
            return SQLiteJournal(path: file(in: folder), reader: queue, writer: nil)
        } catch {
            throw JournalError(error, "read", path)
        }
    }

    /// Makes an empty database that is its user's alone; SQLite gives its log the same rights.
    static func create(_ path: FilePath) throws(JournalError) {
        do throws(IOError) {
            try OpenFile.open(path, O_WRONLY | O_CREAT | O_EXCL, mode: 0o600).close()
        } catch {
            let isFull = error.errno == .noSpace || error.errno == .diskQuotaExceeded
            let remedy = isFull ? "Free space on its file system." : "Check the rights to its folder."
            // Another process may have been faster.
            guard error.errno == .fileExists else {
                throw JournalError(.environment, "Cannot create the journal '\(path.text)': \(error.errno). \(remedy)")
            }
        }
    }

    /// Refuses a journal that must not be written. Reads only, so that a damaged journal, or that of a newer Dropmill,
    /// stays as it is.
    private static func inspect(_ name: String, _ path: FilePath, checking: Bool) throws {
        var configuration = configuration()
        configuration.readonly = true
        do {
            let queue = try DatabaseQueue(path: name, configuration: configuration)
            try refuseNewer(queue, path)
            if checking { try check(queue, path) }
            try queue.close()
        } catch let error as DatabaseError where error.extendedResultCode == .SQLITE_READONLY_ROLLBACK {
            // A run was killed while it made the file, before there was a log. Nothing is in it yet, and whoever may
            // write puts it in order.
        }
    }

    private static func openForReading(_ path: String) throws -> DatabaseQueue {
        var configuration = configuration()
        configuration.readonly = true
        let queue = try DatabaseQueue(path: path, configuration: configuration)
        try refuseNewer(queue, FilePath(path))
        guard try !queue.read({ try Migrations.all.appliedIdentifiers($0) }).isEmpty else {
            throw JournalError(.missing, "The journal '\(path)' is empty; 'dropmill run' starts it.")
        }
        guard try queue.read({ try Migrations.all.hasCompletedMigrations($0) }) else {
            throw JournalError(
                .missing,
                "The journal '\(path)' was written by an older Dropmill; start 'dropmill run' once to upgrade it.")
        }
        return queue
    }

    static func configuration() -> Configuration {
        var configuration = Configuration()
        configuration.label = "dropmill.journal.sqlite"
        configuration.busyMode = .timeout(5)
        configuration.maximumReaderCount = 2
        configuration.prepareDatabase { db in
            // What a burst left of the log goes back to the file system.
            try db.execute(sql: "PRAGMA journal_size_limit = \(16 << 20)")
        }
        return configuration
    }

    private static func setUp(_ db: Database, durable: Bool, _ path: FilePath) throws {
        try setSync(db, durable: durable, path)
        // `-wal` and `-shm` stay when the last one closes, so that those who may only read need not make them.
        var persist: CInt = 1
        guard sqlite3_file_control(db.sqliteConnection, nil, SQLITE_FCNTL_PERSIST_WAL, &persist) == SQLITE_OK else {
            throw JournalError(.environment, "The journal '\(path.text)' is on a file system without shared memory.")
        }
    }

    static func setSync(_ db: Database, durable: Bool, _ path: FilePath) throws {
        try db.execute(sql: "PRAGMA synchronous = \(durable ? "FULL" : "NORMAL")")
        guard try Int.fetchOne(db, sql: "PRAGMA synchronous") == (durable ? 2 : 1) else {
            throw JournalError(
                .environment, "The journal '\(path.text)' cannot be written durably: SQLite kept another setting.")
        }
    }

    private static func refuseNewer(_ reader: any DatabaseReader, _ path: FilePath) throws {
        let known = Migrations.all.migrations
        let unknown = try reader.read { try Migrations.all.appliedIdentifiers($0) }.subtracting(known)
        guard unknown.isEmpty else {
            let theirs = unknown.sorted().map { "'\($0)'" }.joined(separator: ", ")
            throw JournalError(
                .newer,
                "The journal '\(path.text)' was written by a newer Dropmill: it has the schema \(theirs), and this one "
                    + "knows it up to '\(known.last ?? "")'. Run that version again, or move the file away.")
        }
    }

    /// The largest database that is checked whole; it takes some 0.2 s.
    private static let mostChecked = 64 << 20

    /// Looks for damage. Neither a kill nor a power cut does any (the log is checksummed and synced), a failing disk or
    /// another program might, and at any time. What a large file hides shows when it is read, as the same error; its
    /// check would hold up the start for seconds.
    static func check(_ reader: any DatabaseReader, _ path: FilePath) throws {
        guard Folder.kind(of: mark(of: path)) == nil else {
            throw JournalError(.corrupt, "The journal '\(path.text)' was found damaged by the last run.")
        }
        try reader.read { db in
            let pages = try Int.fetchOne(db, sql: "PRAGMA page_count") ?? 0
            let size = try Int.fetchOne(db, sql: "PRAGMA page_size") ?? 0
            guard pages * size <= mostChecked else { return }
            let word = try String.fetchOne(db, sql: "PRAGMA quick_check(1)") ?? ""
            guard word == "ok" else { throw JournalError(.corrupt, "The journal '\(path.text)' is damaged: \(word).") }
        }
    }

    /// Whether nothing is in the log: everything is in the database itself.
    private static func isAtRest(_ path: String) -> Bool {
        var status = stat()
        return stat(path + "-wal", &status) != 0 || status.st_size == 0
    }

    /// As SQLite's URIs have it.
    private static func escaped(_ path: String) -> String {
        var text = ""
        for character in path {
            switch character {
            case "%": text += "%25"
            case "?": text += "%3f"
            case "#": text += "%23"
            default: text.append(character)
            }
        }
        return text
    }

    /// SQLite takes paths as UTF-8.
    static func text(of path: FilePath) throws(JournalError) -> String {
        guard let text = String(validating: path.bytes, as: UTF8.self) else {
            throw JournalError(
                .environment, "The journal's path '\(path.text)' is not UTF-8; choose another folder with --state-dir.")
        }
        return text
    }
}
