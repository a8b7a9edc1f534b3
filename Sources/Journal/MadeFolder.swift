package import SystemPackage

/// A folder that was made for originals, below one that a pipeline's file names.
package struct MadeFolder: Sendable, Equatable {
    package let path: FilePath
    package let inode: UInt64

    package init(_ path: FilePath, inode: UInt64) { (self.path, self.inode) = (path, inode) }
}
