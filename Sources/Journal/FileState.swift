package import Files
package import Glibc

/// By what a file is known again in a place where it was left.
package struct FileState: Sendable, Equatable {
    package var inode: UInt64
    package var size: Int64
    package var modified: FileTime

    package init(inode: UInt64, size: Int64, modified: FileTime) {
        (self.inode, self.size, self.modified) = (inode, size, modified)
    }

    package init(_ status: stat) {
        self.init(
            inode: UInt64(status.st_ino), size: Int64(status.st_size), modified: FileTime(status.st_mtim))
    }
}
