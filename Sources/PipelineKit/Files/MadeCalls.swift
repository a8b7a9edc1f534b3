package import Glibc
package import SystemPackage

/// Whether a call was made that says that it failed. Over a network it may have been: its answer was lost, or it was
/// asked twice (rename(2), BUGS). So after any error both ends are looked at, and only what that shows counts.
package enum MadeCalls {
    /// What has the name, a link not followed, as the server of a network file system says now; nil for nothing. Where
    /// that cannot be told it is not nothing either.
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

    /// Whether one is the other under another name. Not by its device, which is another one after a mount. Some network
    /// file systems renumber what they look up again, and then size and time tell.
    package static func isSame(_ one: stat, _ other: stat) -> Bool {
        let kind = FileKind(mode: one.st_mode)
        guard kind == FileKind(mode: other.st_mode) else { return false }
        return one.st_ino == other.st_ino
            || kind == .regular && one.st_size == other.st_size
                && one.st_mtim.tv_sec == other.st_mtim.tv_sec && one.st_mtim.tv_nsec == other.st_mtim.tv_nsec
    }

    /// Whether a rename of what was `before` was made: it is at the target now, and no longer where it was.
    package static func isRenamed(_ before: stat?, source: stat?, target: stat?) -> Bool {
        guard let before, let target else { return false }
        return isSame(before, target) && source.map { !isSame(before, $0) } ?? true
    }
}
