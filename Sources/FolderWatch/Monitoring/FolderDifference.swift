/// How a folder's listing differs from what the same listener was told before. All that a listener was told, added up,
/// is the listing.
public struct FolderDifference: Sendable, Hashable {
    /// What is there and was not, by name bytes.
    public let inserted: [FolderEntry]
    /// What is not there any more, as it was told, by name bytes.
    public let deleted: [FolderEntry]
    /// What has another kind, size, time or inode, as it is now, by name bytes.
    public let changed: [FolderEntry]
    /// Whether this is the first that this listener is told: all that is there is `inserted`, be it nothing.
    public let isInitial: Bool

    /// Whether nothing differs: only an initial one of an empty folder.
    public var isEmpty: Bool { inserted.isEmpty && deleted.isEmpty && changed.isEmpty }
}
