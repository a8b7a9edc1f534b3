package import Files
package import SystemPackage

/// How far an archive of jobs is written: what is behind that was cut off by a crash, or is there without having been
/// noted, and is written again.
package struct ArchiveNote: Sendable, Equatable {
    package var path: FilePath
    package var identity: FileIdentity
    /// Bytes.
    package var length: Int64

    package init(_ path: FilePath, _ identity: FileIdentity, length: Int64) {
        (self.path, self.identity, self.length) = (path, identity, length)
    }
}
