package import Files

/// Which names of an inbox its watcher tells of, and which of its folders it looks into.
package struct InboxSelection: Sendable {
    /// How many levels of folders are looked into: 1 is the inbox itself.
    package let depth: Int
    /// Whether changes to a file of this name are told.
    package let takes: @Sendable (FileName) -> Bool
    /// Whether a folder of this name that lies in another is looked into.
    package let enters: @Sendable (_ name: FileName, _ folder: InboxFolder) -> Bool

    package init(
        depth: Int, takes: @escaping @Sendable (FileName) -> Bool,
        enters: @escaping @Sendable (_ name: FileName, _ folder: InboxFolder) -> Bool
    ) {
        self.depth = depth
        self.takes = takes
        self.enters = enters
    }
}
