import Glibc
import PipelineKit
package import SystemPackage

/// Holds a folder for this process alone: a lock on the folder itself (flock(2)), which the kernel gives back when the
/// process ends, however it ends.
package final class FolderLock: Sendable {
    private let folder: OpenFile

    /// Locks the folder, or throws `locked` where another process has it.
    package init(_ path: FilePath, describedAs what: String) throws(EngineError) {
        do throws(IOError) {
            folder = try OpenFile.open(path, O_RDONLY | O_DIRECTORY)
        } catch {
            throw EngineError(kind: .configuration, message: "\(what): \(error)")
        }
        guard flock(folder.descriptor, LOCK_EX | LOCK_NB) == 0 else {
            let error = Errno.last
            guard error == .wouldBlock else {
                throw EngineError(kind: .configuration, message: "\(what): \(IOError("lock", path, error))")
            }
            throw EngineError(
                kind: .locked,
                message:
                    "\(what) '\(path.text)' is held by another running dropmill; stop that one, or give this one "
                    + "its own"
            )
        }
    }

    /// Gives the folder back before the process ends.
    package func release() { _ = flock(folder.descriptor, LOCK_UN) }
}
