package import Files
package import Glibc
package import SystemPackage

/// Whether a failed call took effect anyway. Over a network it may have: its reply was lost, or it was
/// sent twice (rename(2), BUGS). So after any error both ends are examined, and only that result counts.
package enum MadeCalls {
    /// The entry of this name according to the server of a network file system, not following a link; nil if none. If
    /// that is unknown it does not count as missing.
    package static func look(_ folder: Int32, _ name: UnsafePointer<CChar>) throws(Errno) -> stat? {
        var status = stat()
        if statusNow(folder, name, &status) == 0 { return status }
        let error = Errno.last
        guard [.noSuchFileOrDirectory, .notDirectory].contains(error) else { throw error }
        return nil
    }

    /// The same of a name in a folder that is open.
    package static func look(_ name: FileName, in folder: borrowing OpenFile) throws(IOError) -> stat? {
        let descriptor = folder.descriptor
        do throws(Errno) {
            return try name.withCString { (name) throws(Errno) in try look(descriptor, name) }
        } catch {
            throw IOError("examine", folder.path.appending(name), error)
        }
    }

    /// Whether both are the same file under two names. Not by device, which changes with a mount. Some network
    /// file systems renumber inodes at each lookup; then size and time decide.
    package static func isSame(_ one: stat, _ other: stat) -> Bool {
        let kind = FileKind(mode: one.st_mode)
        guard kind == FileKind(mode: other.st_mode) else { return false }
        return one.st_ino == other.st_ino
            || kind == .regular && one.st_size == other.st_size
                && one.st_mtim.tv_sec == other.st_mtim.tv_sec && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec
    }

    /// Whether the rename took effect: the file that was `before` is now at the target, and no longer at its old place.
    package static func isRenamed(_ before: stat?, source: stat?, target: stat?) -> Bool {
        guard let before, let target else { return false }
        return isSame(before, target) && source.map { !isSame(before, $0) } ?? true
    }
}
