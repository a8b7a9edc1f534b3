package import Files

/// A line about a single-file payload in a list of the folder that it is published to, such as `SHA256SUMS`. As with a
/// `Sidecar`, the payload's name is settled only when it is published.
package struct ListLine: Sendable, Hashable {
    /// The list's name.
    package var list: FileName
    /// What stands before the digest.
    package var start: [Sidecar.Part]
    /// The digest as it is written.
    package var digest: String
    /// What stands behind it, with the newline.
    package var end: [Sidecar.Part]
    /// What makes a comment of a line that begins with it.
    package var mark: UInt8

    package init(
        list: FileName, start: [Sidecar.Part], digest: String, end: [Sidecar.Part],
        mark: UInt8 = ListText.usualMark
    ) {
        self.list = list
        self.start = start
        self.digest = digest
        self.end = end
        self.mark = mark
    }

    /// Whether another one would take its place: of the same kind of digest, in the same list.
    package func isLike(_ other: ListLine) -> Bool {
        list == other.list && start == other.start && end == other.end && digest.utf8.count == other.digest.utf8.count
    }

    /// The line for a payload of this name.
    package func text(for name: FileName) -> ListText {
        var (start, end) = ([UInt8](), [UInt8]())
        for part in self.start { part.write(name.bytes, to: &start) }
        for part in self.end { part.write(name.bytes, to: &end) }
        return ListText(start: start, digest: Array(digest.utf8), end: end, mark: mark)
    }
}
