import Files
import GRDB
import Glibc
import SystemPackage
import TestSupport

@testable import SQLiteJournal

/// Damages a journal that nobody has open.
enum DamagedJournal {
    /// Overwrites the first page of a table or an index.
    static func overwrite(rootOf name: String, in folder: FilePath) throws {
        let path = SQLiteJournal.file(in: folder)
        let database = try DatabaseQueue(path: path.string)
        let (page, size) = try database.read { db in
            (
                try Int.fetchOne(db, sql: "SELECT rootpage FROM sqlite_master WHERE name = ?", arguments: [name]),
                try Int.fetchOne(db, sql: "PRAGMA page_size")
            )
        }
        try database.close()
        guard let page, let size else { throw IOError("find '\(name)' in", path, .invalidArgument) }
        let file = try OpenFile.open(path, O_WRONLY)
        let rubbish = [UInt8](repeating: 0x55, count: size)
        guard pwrite(file.descriptor, rubbish, size, off_t((page - 1) * size)) == size else {
            throw IOError("write", path, .last)
        }
        try file.close()
    }
}
