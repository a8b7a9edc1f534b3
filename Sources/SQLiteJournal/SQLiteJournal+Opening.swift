import Files
import Glibc
package import Journal
import SQLite
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
            let pool = try Pool(writing: name) { db in
                // What a burst left of the log goes back to the file system.
                try db.execute("PRAGMA journal_size_limit = \(16 << 20)")
            }
            try keepCopy(of: pool, path)
            try Migrations.migrate(pool)
            try pool.withWriter { db in
                try setSync(db, durable: durable, path)
                try db.keepLog()
            }
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
                "There is no journal in '\(folder.text)'; 'dropmill run' creates it, and --state-dir "
                    + "says where it is, or --journal one that nodes share.")
        }
        do {
            let hasRoom = hasRoom(path)
            let path = try text(of: path)
            let reader: Pool
            do {
                guard hasRoom else { throw SQLiteError(.full, "database or disk is full") }
                reader = try openForReading(path)
            } catch let error as SQLiteError where [.cannotOpen, .readOnly, .full].contains(error.code) {
                // Even a reader makes the files `-wal` and `-shm` where they are missing, which takes the right to
                // write to the folder. If they are missing nothing writes, so the database is complete by itself.
                guard isAtRest(path) else { throw hasRoom ? error : noRoom(FilePath(path)) as any Error }
                reader = try openForReading(path, isImmutable: true)
            }
            return SQLiteJournal(path: file(in: folder), reader: reader, writer: nil)
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
        do {
            let reader = try Pool(reading: name)
            defer { reader.close() }
            try refuseNewer(try reader.read { try Migrations.applied(in: $0) }, path)
            if try reader.read({ try Migrations.isOthers($0) }) {
                throw JournalError(.corrupt, "The file '\(path.text)' is another program's database.")
            }
            if checking { try reader.read { try check($0, path) } }
        } catch let error as SQLiteError where error.extendedCode == SQLiteError.needsRollback {
            // A run was killed while it made the file, before there was a log. Nothing is in it yet, and whoever may
            // write puts it in order.
        }
    }

    private static func openForReading(_ path: String, isImmutable: Bool = false) throws -> Pool {
        let reader = try Pool(reading: path, isImmutable: isImmutable)
        let applied = try reader.read { try Migrations.applied(in: $0) }
        try refuseNewer(applied, FilePath(path))
        guard !applied.isEmpty else {
            throw JournalError(.missing, "The journal '\(path)' is empty; 'dropmill run' starts it.")
        }
        guard Migrations.isComplete(applied) else {
            throw JournalError(
                .missing,
                "The journal '\(path)' was written by an older Dropmill; start 'dropmill run' once to upgrade it.")
        }
        return reader
    }

    static func setSync(_ db: Connection, durable: Bool, _ path: FilePath) throws {
        try db.execute("PRAGMA synchronous = \(durable ? "FULL" : "NORMAL")")
        // Not believed but read back.
        guard try db.first("PRAGMA synchronous")?.first == .integer(durable ? 2 : 1) else {
            throw JournalError(
                .environment, "The journal '\(path.text)' cannot be written durably: SQLite kept another setting.")
        }
    }

    /// `SQLite 3.40.1`: of the library that this process runs with.
    package static var libraryVersion: String { Connection.libraryVersion }

    private static func refuseNewer(_ applied: Set<String>, _ path: FilePath) throws(JournalError) {
        let unknown = Migrations.unknown(among: applied)
        guard unknown.isEmpty else {
            let remedy =
                lastCopy(beside: path).map { "put in its place what it was before, '\($0.text)'" }
                ?? "move the file away"
            let theirs = unknown.sorted().map { "'\($0)'" }.joined(separator: ", ")
            throw JournalError(
                .newer,
                "The journal '\(path.text)' was written by a newer Dropmill: it has the schema \(theirs), and this one "
                    + "knows it up to '\(Migrations.last)'. Run that version again, or \(remedy).")
        }
    }

    /// The largest database that is checked whole; it takes some 0.2 s.
    private static let mostChecked = 64 << 20

    /// Looks for damage. Neither a kill nor a power cut does any (the log is checksummed and synced), a failing disk or
    /// another program might, and at any time. What a large file hides shows when it is read, as the same error; its
    /// check would hold up the start for seconds.
    static func check(_ db: Connection, _ path: FilePath) throws {
        guard Folder.kind(of: mark(of: path)) == nil else {
            throw JournalError(.corrupt, "The journal '\(path.text)' was found damaged by the last run.")
        }
        let sizes = try ["page_count", "page_size"].map { try db.first("PRAGMA \($0)")?.first?.integer ?? 0 }
        guard sizes[0].multipliedReportingOverflow(by: sizes[1]).partialValue <= mostChecked else { return }
        let word = try db.first("PRAGMA quick_check(1)")?.first?.text ?? ""
        guard word == "ok" else { throw JournalError(.corrupt, "The journal '\(path.text)' is damaged: \(word).") }
    }

    /// Whether nothing is in the log: everything is in the database itself.
    private static func isAtRest(_ path: String) -> Bool {
        var status = stat()
        return stat(path + "-wal", &status) != 0 || status.st_size == 0
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
