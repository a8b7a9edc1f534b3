package import SystemPackage

/// A file below some folder.
package struct TreeFile: Sendable, Hashable, Comparable {
    /// Its path from the folder on.
    package let relative: FilePath
    /// The same as bytes: what files are ordered by.
    package let bytes: [UInt8]

    package init(_ relative: FilePath) {
        self.relative = relative
        bytes = relative.bytes
    }

    /// By bytes, as `LC_ALL=C sort` orders paths.
    package static func < (left: TreeFile, right: TreeFile) -> Bool {
        left.bytes.lexicographicallyPrecedes(right.bytes)
    }
}
