package import Files
package import Glibc
package import SystemPackage

/// A file with what only this process is to know.
package enum SecretFile {
    /// Its bytes. Throws where others can read it, too.
    package static func read(_ path: FilePath, atMost limit: Int) throws(IOError) -> [UInt8] {
        let file = try OpenFile.open(path, O_RDONLY | O_NONBLOCK)
        let status = try file.status()
        guard isSecret(mode: status.st_mode, owner: status.st_uid, user: geteuid()) else {
            throw IOError("read (others can, too)", path, .permissionDenied)
        }
        return try SmallFile.read(file, atMost: limit)
    }

    /// Whether a file's rights keep it so. What root owns is given to other users by a group of theirs, or by an access
    /// list, whose mask stands in the place of the group's rights: so does systemd with credentials.
    package static func isSecret(mode: mode_t, owner: uid_t, user: uid_t) -> Bool {
        let isGiven = owner == 0 && user != 0
        return mode & (isGiven ? 0o037 : 0o077) == 0
    }
}
