package import Platform
package import SystemPackage

extension FileIdentity {
    package init(_ status: stat) {
        self.init(device: UInt64(truncatingIfNeeded: status.st_dev), inode: UInt64(status.st_ino))
    }

    /// The identity of the entry at a path; nil if there is none.
    package static func of(_ path: FilePath, followingLinks: Bool = false) -> FileIdentity? {
        FileStatus.of(path, followingLinks: followingLinks).map { FileIdentity($0) }
    }

    /// The same, but throws errors (an I/O error, a stale mount) instead of reporting absence.
    package static func find(_ path: FilePath) throws(IOError) -> FileIdentity? { try examine(path)?.identity }

    /// What is at a path.
    package typealias Found = (identity: FileIdentity, isFolder: Bool, status: stat)

    /// The same, and whether it is a folder.
    package static func examine(_ path: FilePath) throws(IOError) -> Found? {
        if let status = FileStatus.of(path) {
            return (FileIdentity(status), FileKind(mode: status.st_mode) == .folder, status)
        }
        let reason = Errno.last
        guard reason == .noSuchFileOrDirectory || reason == .notDirectory else {
            throw IOError("examine", path, reason)
        }
        return nil
    }
}
