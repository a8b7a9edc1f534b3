import Files
package import Journal
import SQLite
package import SystemPackage

extension SQLiteJournal {
    /// Rewrites the journal in a state folder without the room that nothing is in, so that from then on it gives such
    /// room back by itself; in place, by SQLite's own means, so that a crash costs nothing and it stays its owner's.
    /// Returns its sizes before and after, of which the latter is what it comes to once nobody reads it any more.
    /// SQLite keeps a copy meanwhile, in a file without a name where SQLITE_TMPDIR says.
    package static func compact(in folder: FilePath) throws(JournalError) -> (before: Int64, after: Int64) {
        let journal = try open(writing: folder, durable: true)
        defer { journal.close() }
        let before = try journal.room()
        try journal.rewrite()
        return (before.used.addingSaturated(before.free), try journal.room().used)
    }

    private func rewrite() throws(JournalError) {
        do {
            try writer?.withWriter { db in
                try db.execute("PRAGMA auto_vacuum = INCREMENTAL; VACUUM; PRAGMA wal_checkpoint(TRUNCATE)")
            }
        } catch {
            throw JournalError(error, "rewrite", path)
        }
    }
}
