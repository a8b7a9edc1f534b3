import Files
import Glibc
package import Journal
import PipelineKit
import SQLite
package import SystemPackage

extension SQLiteJournal {
    /// Rewrites the journal in a state folder without the room that nothing is in, so that from then on it gives such
    /// room back by itself. For whoever holds the folder's lock: nobody else writes. Returns its sizes before and
    /// after.
    ///
    /// A new file takes the old one's place at once; a crash leaves one or the other.
    package static func compact(in folder: FilePath) throws(JournalError) -> (before: Int64, after: Int64) {
        let path = file(in: folder)
        let draft = folder.appending("journal.compacting")
        let before = try open(writing: folder, durable: true)
        do throws(JournalError) {
            try remove(draft, drafts)
            try before.copyAnew(to: draft)
        } catch {
            before.close()
            do throws(JournalError) { try remove(draft, drafts) } catch {}
            throw error
        }
        let size = FileStatus.of(path)?.st_size ?? 0
        before.close()
        // What it had in its log is in the copy, and must not be read into that.
        guard (FileStatus.of(FilePath(path.string + "-wal"))?.st_size ?? 0) == 0 else {
            throw JournalError(
                .environment, "The journal '\(path.text)' cannot be rewritten: another program has it open. Close that."
            )
        }
        do throws(IOError) {
            try OpenFile.open(draft, O_RDONLY).sync()
            let opened = try Folder.open(folder)
            try opened.rename("journal.compacting", over: "journal.sqlite")
            try opened.file.sync()
        } catch {
            throw JournalError(.environment, "The journal '\(path.text)' cannot be rewritten: \(error).")
        }
        // The log is made again, and the file marked as having one.
        try open(writing: folder, durable: true).close()
        return (Int64(size), Int64(FileStatus.of(path)?.st_size ?? 0))
    }

    /// What SQLite makes beside a file that it writes has these ends.
    private static let drafts = ["", "-journal"]

    /// It stays the daemon's, also where root rewrites it. SQLite gives its log the same owner.
    private func keepOwner(in draft: FilePath) throws(JournalError) {
        guard let status = FileStatus.of(path) else { return }
        do throws(IOError) {
            let file = try OpenFile.open(draft, O_WRONLY | O_NOFOLLOW)
            guard fchown(file.descriptor, status.st_uid, status.st_gid) == 0 else {
                throw IOError("change the owner of", draft, .last)
            }
        } catch {
            throw JournalError(.environment, "The journal '\(path.text)' cannot be rewritten: \(error).")
        }
    }

    private func copyAnew(to draft: FilePath) throws(JournalError) {
        do {
            try Self.create(draft)
            try keepOwner(in: draft)
            let name = try Self.text(of: draft)
            try writer?.withWriter { db in try db.run("VACUUM INTO ?", name) }
            try Self.check(Connection(name, for: .reading), draft)
        } catch {
            throw JournalError(error, "rewrite", path)
        }
    }
}
