package import Files
package import SystemPackage

/// A move that settlement is going to make, written down before it is made. Recovery looks at the target first: if it
/// is there by its identity (or, across file systems, by its content), or the source is gone, the move was made.
package struct Intent: Sendable, Hashable {
    /// What is moved.
    package enum Role: String, Sendable, CaseIterable {
        /// A file or folder that stages made, or the drop itself where it is published.
        case output
        /// A file beside an output or beside the original.
        case sidecar = "companion"
        /// The dropped original, to processed or failed.
        case original
    }

    /// What is moved.
    package var role: Role
    /// Where it is, in the job's folder.
    package var source: FilePath
    /// Its target.
    package var target: FilePath
    /// Which inode it is.
    package var identity: FileIdentity

    package init(role: Role, source: FilePath, target: FilePath, identity: FileIdentity) {
        self.role = role
        self.source = source
        self.target = target
        self.identity = identity
    }
}
