package import Files
import Glibc
package import SystemPackage

extension FolderLock {
    /// Whether a process holds the folder now. A shared lock is taken and released at once, so that two processes that
    /// check do not block each other.
    package static func isHeld(_ path: FilePath) throws(IOError) -> Bool {
        let folder = try OpenFile.open(path, O_RDONLY | O_DIRECTORY)
        if flock(folder.descriptor, LOCK_SH | LOCK_NB) == 0 { return false }
        let error = Errno.last
        guard error == .wouldBlock else { throw IOError("look at the lock of", path, error) }
        return true
    }
}
