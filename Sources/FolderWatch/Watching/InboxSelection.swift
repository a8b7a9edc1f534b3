package import Files

/// Which names of an inbox its watcher tells of, and which of its folders it looks into.
package struct InboxSelection: Sendable {
    /// How many levels of folders are looked into: 1 is the inbox itself.
    package let depth: Int
    /// Whether changes to a file of this name are told.
    package let takes: @Sendable (FileName) -> Bool
    /// Whether a folder of this name that lies in another is looked into.
    package let enters: @Sendable (_ name: FileName, _ folder: InboxFolder) -> Bool

    /// Whether a name that no pattern takes is remembered, so that it can be listed.
    package let passes: @Sendable (FileName) -> Bool

    package init(
        depth: Int, takes: @escaping @Sendable (FileName) -> Bool,
        enters: @escaping @Sendable (_ name: FileName, _ folder: InboxFolder) -> Bool,
        passes: @escaping @Sendable (FileName) -> Bool = { @Sendable _ in false }
    ) {
        self.depth = depth
        self.takes = takes
        self.enters = enters
        self.passes = passes
    }
}
