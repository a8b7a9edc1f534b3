public import SystemPackage

/// A file below some folder.
public struct TreeFile: Sendable, Hashable, Comparable {
    /// Its path from the folder on.
    public let relative: FilePath
    /// The same as bytes: what files are ordered by.
    package let bytes: [UInt8]

    package init(_ relative: FilePath) {
        self.relative = relative
        bytes = relative.bytes
    }

    /// By bytes, as `LC_ALL=C sort` orders paths.
    public static func < (left: TreeFile, right: TreeFile) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
