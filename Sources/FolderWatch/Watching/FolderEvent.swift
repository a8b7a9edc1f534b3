@preconcurrency import Dispatch
package import Files
import Platform
import Synchronization
import SystemPackage

/// What the kernel says of a watched folder or file. A hint to look, never a fact to decide on.
package enum FolderEvent: Sendable, Equatable {
    /// A name appeared (created, or moved in).
    case appeared(FileName, isFolder: Bool)
    /// A file was written to, closed after writing, or the metadata of a file or folder changed.
    case touched(FileName, isFolder: Bool)
    /// A name is gone (deleted, or moved out).
    case vanished(FileName, isFolder: Bool)
    /// A name appeared or is gone, or the file itself was written to: which name, the kernel does not say.
    case somethingChanged
    /// The folder's own metadata changed: what was not allowed in it may be now.
    case rightsChanged
    /// The folder itself was deleted, moved or unmounted: the watch is void, or of something else.
    case gone
}
