import Files
package import Glibc
import PipelineKit
package import SystemPackage

/// Only its user may write to the state folder: a start carries out what the journal says. Only its user, and the
/// members of a group where there is one, may read it.
package enum PrivateState {
    /// Creates the folder if it is missing, and closes it and its files to others. Returns what was open
    /// before, as a sentence; nil if nothing was.
    ///
    /// Refuses a folder that others may have written to or could replace. `trusted`: folders above it
    /// that are accepted as they are. `readers`: the group that may read the journal.
    package static func prepare(
        _ folder: FilePath, trusting trusted: [FilePath], readers: gid_t? = nil
    ) throws(FolderError) -> String? {
        // Before it is made, and again where it was missing.
        try refuse(folder, trusting: trusted)
        do throws(IOError) {
            try Folder.makeOwn(folder, mode: 0o700)
        } catch {
            throw unusable("\(error)")
        }
        try refuse(folder, trusting: trusted)
        return try close(folder, but: readers)
    }

    /// Closes the folder and its files to all but these readers. Returns what was open before.
    @discardableResult
    static func close(_ folder: FilePath, but readers: gid_t?) throws(FolderError) -> String? {
        do throws(IOError) {
            return try close(try OpenFile.open(folder, O_RDONLY | O_DIRECTORY), but: readers)
        } catch {
            guard let readers, error.errno == .notPermitted, CurrentUser.lacks(readers) else {
                throw unusable("\(error)")
            }
            let (group, user) = (AccountName.group(readers), CurrentUser.name)
            throw FolderError(
                kind: .configuration,
                message: "the state folder '\(folder.text)' cannot be given to 'control_group: \(group)', of which "
                    + "\(user) is no member; add it (usermod -aG \(group) \(user)) and start Dropmill again")
        }
    }

    /// Everything that is at fault on the way to it, itself included, which no list accepts.
    package static func faults(on folder: FilePath, trusting trusted: [FilePath]) -> [(fact: String, remedy: String)] {
        let folder = folder.absolute
        let trust = FolderTrust(accepting: trusted.filter { $0 != folder })
        return trust.way(to: folder).faults.map { fault in
            (fault.fact, fault.remedy(for: CurrentUser.name, orElse: "choose another state folder with --state-dir"))
        }
    }

    private static func refuse(_ folder: FilePath, trusting trusted: [FilePath]) throws(FolderError) {
        guard let (fact, remedy) = faults(on: folder, trusting: trusted).first else { return }
        throw FolderError(
            kind: .configuration, message: "the state folder '\(folder.text)' cannot be trusted: \(fact); \(remedy)")
    }

    private static func unusable(_ fact: String) -> FolderError {
        FolderError(kind: .configuration, message: "\(fact); choose another state folder with --state-dir")
    }

    private static func close(_ folder: borrowing OpenFile, but readers: gid_t?) throws(IOError) -> String? {
        let status = try folder.status()
        // Anyone who may write here controls the daemon. With the sticky bit others can only have added files.
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
            throw IOError("use as the state folder (it is not \(CurrentUser.name)'s alone)", folder.path, .notPermitted)
        }
        var wasOpen = isOpen(status, but: readers)
        if let readers {
            // What is made in it later is the group's, too, where that may be said (RestrictSUIDSGID= of systemd).
            guard status.st_gid == readers || fchown(folder.descriptor, .max, readers) == 0,
                fchmod(folder.descriptor, 0o2750) == 0 || fchmod(folder.descriptor, 0o750) == 0
            else { throw IOError("give to a group", folder.path, .last) }
        } else if wasOpen, fchmod(folder.descriptor, 0o700) != 0 {
            throw IOError("close to others", folder.path, .last)
        }
        for name in try Folder.names(in: folder) where try closeFile(name, in: folder, but: readers) { wasOpen = true }
        return wasOpen
            ? "others could read the state folder '\(folder.path.text)' or a file in it; it is private now" : nil
    }

    private static let journal = ["", "-wal", "-shm"].map { Array("journal.sqlite\($0)".utf8) }

    /// Whether others may read it, or write to it, than its user and those readers.
    private static func isOpen(_ status: stat, but readers: gid_t?) -> Bool {
        status.st_mode & (status.st_gid == readers ? 0o027 : 0o077) != 0
    }

    /// Closes one file. Returns whether it was open to others.
    private static func closeFile(
        _ name: FileName, in folder: borrowing OpenFile, but readers: gid_t?
    ) throws(IOError) -> Bool {
        guard let status = FileStatus.of(name, in: folder) else {
            // A log that another process's last reader has just removed.
            if Errno.last == .noSuchFileOrDirectory { return false }
            throw IOError("examine", folder.path.appending(name), .last)
        }
        let isJournal = name.bytes.starts(with: "journal.sqlite".utf8)
        guard FileKind(mode: status.st_mode) == .regular else {
            guard isJournal else { return false }
            throw IOError("use as the journal (it is not a regular file)", folder.path.appending(name), .notPermitted)
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 || !isJournal else {
            throw IOError(
                "use as the journal (it belongs to \(AccountName.user(status.st_uid)))", folder.path.appending(name),
                .notPermitted)
        }
        let readers = journal.contains(name.bytes) ? readers : nil
        let mode = status.st_mode & 0o700 | (readers == nil ? 0 : 0o040)
        let isGiven = readers == nil || readers == status.st_gid
        guard !isGiven || status.st_mode & 0o7777 != mode else { return false }
        // By name, in a folder that no one else may write to: opening and closing the file would release SQLite's
        // locks (fcntl(2)).
        let parent = folder.descriptor
        let isDone = name.withCString { name in
            (isGiven || fchownat(parent, name, .max, readers ?? .max, AT_SYMLINK_NOFOLLOW) == 0)
                && fchmodat(parent, name, mode, 0) == 0
        }
        guard isDone else { throw IOError("close to others", folder.path.appending(name), .last) }
        return isOpen(status, but: readers)
    }
}
