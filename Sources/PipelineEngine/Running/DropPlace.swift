package import Files

/// Where a drop stands in a list: those that are known for longest first, then by path.
package struct DropPlace: Sendable, Hashable, Comparable {
    package let since: MonotonicTime
    package let path: DropPath

    package init(since: MonotonicTime, path: DropPath) { (self.since, self.path) = (since, path) }

    package static func < (left: DropPlace, right: DropPlace) -> Bool {
        left.since == right.since ? left.path < right.path : left.since < right.since
    }
}
