import Files
import Glibc
package import Journal
import PipelineKit
import SQLite
import SystemPackage

/// What is under the journal's name may become something else while it is open: it is removed, moved away, replaced by
/// a backup, written over. SQLite keeps using the file that it has open, which no one else ever sees again.
extension SQLiteJournal {
    private static let logs = ["-wal", "-shm"]
    private static let suffixes = [""] + logs

    /// Which files these are now; nil for one that is not there.
    static func identities(of journal: FilePath) -> [FileIdentity?] {
        suffixes.map { FileIdentity.of(FilePath(bytes: journal.bytes + $0.utf8)) }
    }

    /// Looks whether others find this journal under its name, with this run as the last that began. Where they do not,
    /// what they find is moved out of the way, and what this process knows of it written there. Returns what was done;
    /// nil where nothing had to be.
    package func mend(_ run: RunRecord) throws(JournalError) -> JournalMending? {
        guard let writer, !isInPlace(run) else { return nil }
        return try exclusively { () throws(JournalError) in
            let copy = path.removingLastComponent().appending("journal.mending")
            try Self.remove(copy)
            var keepsHistory = true
            do {
                try Self.back(writer, up: copy)
            } catch {
                try Self.remove(copy)
                let reason = JournalError(error, "copy", path)
                // A full disk comes to an end, and history must not end with it.
                guard reason.kind == .corrupt else { throw reason }
                // What is open is damaged, too.
                keepsHistory = false
            }
            // Of a round that failed, untouched since: a newer one replaces it, or a full disk would never have room.
            let isOwn = unopened.withLock { $0 != nil && $0 == Spot(path).status.map { Fingerprint($0) } }
            if isOwn { try Self.remove(path, keepsHistory ? Self.logs : Self.suffixes) }
            let aside = isOwn ? nil : try moveAside(at: .now())
            let folder = path.removingLastComponent()
            if keepsHistory {
                do throws(IOError) {
                    let opened = try Folder.open(folder)
                    if isOwn { try opened.rename("journal.mending", over: "journal.sqlite") }
                    if !isOwn { try NoReplace.rename(copy, to: path) }
                    try opened.file.sync()
                } catch {
                    throw JournalError(.environment, "The journal cannot be restored: \(error).")
                }
            }
            do throws(JournalError) {
                try adopt(try SQLiteJournal.open(writing: folder, durable: isDurable, checking: false))
            } catch {
                unopened.withLock { $0 = Spot(path).status.map { Fingerprint($0) } }
                throw error
            }
            unopened.withLock { $0 = nil }
            if !keepsHistory { try withoutWaiting { db in try RunRow.add(run, to: db) } }
            return JournalMending(keepsHistory: keepsHistory, aside: aside)
        }
    }

    /// Whether the files that are open are those that others find.
    var isUnderItsName: Bool {
        zip(identities, Self.identities(of: path)).allSatisfy { known, found in known == nil || known == found }
    }

    private func isInPlace(_ run: RunRecord) -> Bool {
        guard isUnderItsName else { return false }
        // Written over it would still be the same file.
        do throws(JournalError) {
            let other = try SQLiteJournal.open(reading: path.removingLastComponent())
            defer { other.close() }
            return try other.lastRun() == run
        } catch {
            return error.kind == .environment
        }
    }

    /// All that the open journal holds, as a file of its own.
    static func back(_ writer: Pool, up copy: FilePath) throws {
        // Before it is opened, so that it is never anybody else's.
        try create(copy)
        let target = try Connection(try text(of: copy), for: .writing)
        try writer.withWriter { try $0.copy(to: target) }
        try check(target, copy)
    }

    static func remove(_ journal: FilePath, _ suffixes: [String] = suffixes) throws(JournalError) {
        for suffix in suffixes {
            let path = FilePath(bytes: journal.bytes + suffix.utf8)
            guard path.withPlatformString({ unlink($0) }) != 0, Errno.last != .noSuchFileOrDirectory else { continue }
            throw JournalError(
                .environment, "Cannot remove '\(path.text)': \(Errno.last). Check the rights to its folder.")
        }
    }

    /// Moves whatever has the journal's names aside, as `journal.replaced-TIME`.
    private func moveAside(at time: Timestamp) throws(JournalError) -> FilePath? {
        let there = Self.suffixes.filter { Folder.kind(of: FilePath(bytes: path.bytes + $0.utf8)) != nil }
        guard !there.isEmpty else { return nil }
        let stem = path.removingLastComponent().appending(
            "journal.replaced-" + time.formatted("%Y%m%dT%H%M%S", utc: true)
                + ".\(time.nanoseconds / 1_000_000 % 1000)")
        do throws(IOError) {
            for suffix in there {
                try NoReplace.rename(
                    FilePath(bytes: path.bytes + suffix.utf8), to: FilePath(bytes: stem.bytes + suffix.utf8))
            }
        } catch {
            throw JournalError(
                .environment, "The file in the journal's place cannot be moved aside: \(error).")
        }
        return stem
    }
}
