import Files
import Glibc
import SQLite
import SystemPackage
import TestSupport

@testable import SQLiteJournal

/// Damages a journal that nobody has open.
enum DamagedJournal {
    /// Overwrites the first page of a table or an index.
    static func overwrite(rootOf name: String, in folder: FilePath) throws {
        let path = SQLiteJournal.file(in: folder)
        let database = try Connection(path.string, for: .writing)
        let page = try database.first("SELECT rootpage FROM sqlite_master WHERE name = ?", name)?.first?.integer
        let pageSize = try database.first("PRAGMA page_size")?.first?.integer
        guard let page, let size = pageSize.map({ Int($0) }) else {
            throw IOError("find '\(name)' in", path, .invalidArgument)
        }
        let file = try OpenFile.open(path, O_WRONLY)
        let rubbish = [UInt8](repeating: 0x55, count: size)
        guard pwrite(file.descriptor, rubbish, size, off_t((Int(page) - 1) * size)) == size else {
            throw IOError("write", path, .last)
        }
        try file.close()
    }
}
