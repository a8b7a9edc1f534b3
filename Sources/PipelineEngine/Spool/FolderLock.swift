import Files
import Glibc
package import SystemPackage

/// Holds a folder for this process alone: a lock on the folder itself (flock(2)), which the kernel gives back when the
/// process ends, however it ends.
package final class FolderLock: Sendable {
    private let folder: OpenFile

    /// Locks the folder, or throws `locked` where another process has it, and has had it for all this time.
    package init(
        _ path: FilePath, describedAs what: String, within patience: Duration = .milliseconds(100)
    ) throws(FolderError) {
        let end = MonotonicTime.now() + patience
        do throws(IOError) {
            folder = try OpenFile.open(path, O_RDONLY | O_DIRECTORY)
        } catch {
            throw FolderError(what, error, remedy: "it must exist, and Dropmill's user must have access to it")
        }
        while true {
            if flock(folder.descriptor, LOCK_EX | LOCK_NB) == 0 { return }
            let error = Errno.last
            guard error == .wouldBlock else {
                throw FolderError(
                    what, IOError("lock", path, error),
                    remedy: "it must be on a file system that supports locks (flock(2))")
            }
            // Who only looks whether a daemon runs (`isHeld`) holds it too, for a moment.
            guard MonotonicTime.now() < end else { break }
            usleep(Self.pause)
        }
        throw FolderError(
            kind: .locked,
            message:
                "\(what) '\(path.text)' is in use by another running dropmill; stop that one, or give this one its own")
    }

    /// Microseconds between two attempts.
    private static let pause: useconds_t = 10_000

    /// Whether it is the folder at this path that is held.
    func holds(_ path: FilePath) -> Bool {
        do throws(IOError) { return FileIdentity(try folder.status()) == FileIdentity.of(path) } catch { return false }
    }

    /// What is at a path in the folder, wherever the folder is now; nil if nothing is there.
    func find(_ relative: FilePath) throws(IOError) -> FileIdentity? {
        var status = stat()
        let descriptor = folder.descriptor
        let found = relative.withPlatformString { fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }
        if found == 0 { return FileIdentity(status) }
        let error = Errno.last
        guard error == .noSuchFileOrDirectory || error == .notDirectory else {
            throw IOError("examine", folder.path.pushing(relative), error)
        }
        return nil
    }

    /// Gives the folder back before the process ends.
    package func release() { _ = flock(folder.descriptor, LOCK_UN) }
}
