package import Files
package import Glibc
package import SystemPackage

/// A file that is about to come into an inbox once more, and how it is known again once it is claimed.
package struct SentFile: Sendable, Equatable {
    package var identity: FileIdentity
    /// Whichever pipeline watches that by then.
    package var inbox: FilePath
    /// Inodes are used again, but seldom for a file of the same size and time. Nil for a folder.
    package var size: Int64?
    package var modified: FileTime?

    package init(_ identity: FileIdentity, into inbox: FilePath, like status: stat) {
        (self.identity, self.inbox) = (identity, inbox)
        guard FileKind(mode: status.st_mode) == .regular else { return }
        (size, modified) = (Int64(status.st_size), FileTime(status.st_mtim))
    }
}
