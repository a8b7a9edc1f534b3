import Files
package import Glibc
import PipelineKit
package import SystemPackage

/// Only its user may write to the state folder: a start carries out what the journal says. Only its user may read it,
/// since the right to read the journal is enough to lock it. The members of a group, where there is one, may pass
/// through it to the control socket.
package enum PrivateState {
    /// Creates the folder if it is missing, and closes it and its files to others. Returns what was open
    /// before, as a sentence; nil if nothing was.
    ///
    /// Refuses a folder that others may have written to or could replace. `trusted`: folders above it
    /// that are accepted as they are. `members`: the group that may pass.
    package static func prepare(
        _ folder: FilePath, trusting trusted: [FilePath], members: gid_t? = nil
    ) throws(FolderError) -> String? {
        // Before it is made, and again where it was missing.
        try refuse(folder, trusting: trusted)
        do throws(IOError) {
            try Folder.makeOwn(folder, mode: 0o700)
        } catch {
            throw unusable("\(error)")
        }
        try refuse(folder, trusting: trusted)
        return try close(folder, but: members)
    }

    /// Closes the folder and its files to all; these members may pass. Returns what was open before.
    @discardableResult
    static func close(_ folder: FilePath, but members: gid_t?) throws(FolderError) -> String? {
        do throws(IOError) {
            return try close(try OpenFile.open(folder, O_RDONLY | O_DIRECTORY), but: members)
        } catch {
            guard let members, error.errno == .notPermitted, CurrentUser.lacks(members) else {
                throw unusable("\(error)")
            }
            let (group, user) = (AccountName.group(members), CurrentUser.name)
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

    private static func close(_ folder: borrowing OpenFile, but members: gid_t?) throws(IOError) -> String? {
        let status = try folder.status()
        // Anyone who may write here controls the daemon. With the sticky bit others can only have added files.
        guard status.st_uid == geteuid(), status.st_mode & 0o022 == 0 || status.st_mode & S_ISVTX != 0 else {
            throw IOError("use as the state folder (it is not \(CurrentUser.name)'s alone)", folder.path, .notPermitted)
        }
        var wasOpen = status.st_mode & (status.st_gid == members ? 0o067 : 0o077) != 0
        if let members {
            guard status.st_gid == members || fchown(folder.descriptor, .max, members) == 0,
                fchmod(folder.descriptor, 0o710) == 0
            else { throw IOError("give to a group", folder.path, .last) }
        } else if wasOpen, fchmod(folder.descriptor, 0o700) != 0 {
            throw IOError("close to others", folder.path, .last)
        }
        for name in try Folder.names(in: folder) where try closeFile(name, in: folder) { wasOpen = true }
        return wasOpen
            ? "others could read the state folder '\(folder.path.text)' or a file in it; it is private now" : nil
    }

    /// Closes one file. Returns whether it was open to others.
    private static func closeFile(_ name: FileName, in folder: borrowing OpenFile) throws(IOError) -> Bool {
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
        guard status.st_mode & 0o077 != 0 else { return false }
        // By name, in a folder that no one else may write to: opening and closing the file would release SQLite's
        // locks (fcntl(2)).
        let parent = folder.descriptor
        guard name.withCString({ fchmodat(parent, $0, status.st_mode & 0o700, 0) }) == 0 else {
            throw IOError("close to others", folder.path.appending(name), .last)
        }
        return true
    }
}
