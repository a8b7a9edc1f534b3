package import SystemPackage

/// How far an archive of jobs is written.
package struct ArchiveNote: Sendable, Equatable {
    package var path: FilePath
    /// Which inode its folder is: where a mount is away, another one is in its place.
    package var folder: UInt64
    /// Which inode the file is. Devices have other numbers after a restart.
    package var inode: UInt64
    /// Bytes.
    package var length: Int64
    /// Whether something is being written behind that: what is there then is of a writing that a crash cut off, or
    /// whose jobs are still on record, and are written again.
    package var isOpen: Bool

    package init(_ path: FilePath, folder: UInt64, inode: UInt64, length: Int64, isOpen: Bool = false) {
        (self.path, self.folder, self.inode, self.length) = (path, folder, inode, length)
        self.isOpen = isOpen
    }
}
