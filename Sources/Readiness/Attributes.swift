package import Files
package import Glibc
import PipelineKit
import SystemPackage

/// Where a file's attributes are from. On network file systems and FUSE the kernel remembers them for a while, and what
/// others wrote meanwhile is not to be seen.
package enum Attributes: Sendable {
    /// What the kernel has.
    case remembered
    /// The server of the file system is asked.
    case asked

    /// Those for a look that decides about drops of an inbox.
    package static func deciding(_ sight: WriterSight) -> Attributes { sight.network == nil ? .remembered : .asked }

    /// Those of a name in a folder, a link not followed; whether they could be read (errno says why not).
    func read(_ name: FileName, in folder: Int32, _ status: inout stat) -> Bool {
        name.withCString { name in
            switch self {
            case .remembered: fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0
            case .asked: statusAsked(folder, name, &status) == 0
            }
        }
    }

    /// Those of an open file.
    package func of(_ file: borrowing OpenFile) throws(IOError) -> stat {
        guard case .asked = self else { return try file.status() }
        var status = stat()
        guard statusAsked(file.descriptor, "", &status) == 0 else { throw IOError("examine", file.path, .last) }
        return status
    }
}
