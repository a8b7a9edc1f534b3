public import Files
import SystemPackage

/// One thing that was put into an inbox.
public struct Drop: Sendable, Hashable {
    /// Its name.
    public let name: FileName
    /// The folders between the inbox and it; empty at the top.
    package let folders: [FileName]
    /// Bytes.
    public let size: Int64
    /// When it was last changed before it was claimed, by the kernel's word (ctime); for a job that was found in the
    /// work folder when it was claimed.
    package let droppedAt: Timestamp
    /// Whether it is a folder with all its contents (`unit: folder`). Not recorded: the work folder shows it.
    public let isFolder: Bool

    package init(
        name: FileName, folders: [FileName] = [], size: Int64, droppedAt: Timestamp, isFolder: Bool = false
    ) {
        self.name = name
        self.folders = folders
        self.size = size
        self.droppedAt = droppedAt
        self.isFolder = isFolder
    }

    /// Its place in the inbox.
    public var path: DropPath { DropPath(name, in: InboxFolder(folders)) }
}
