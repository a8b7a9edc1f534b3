/// The text of a line in a list of digests.
package struct ListText: Sendable, Hashable {
    /// What stands before the digest.
    package let start: [UInt8]
    /// The digest, in hexadecimal.
    package let digest: [UInt8]
    /// What stands behind it, with the newline.
    package let end: [UInt8]
    /// What makes a comment of a line that begins with it.
    package let mark: UInt8

    /// `#`, which sha256sum(1) and its like pass over.
    package static let usualMark = UInt8(ascii: "#")

    package init(start: [UInt8], digest: [UInt8], end: [UInt8], mark: UInt8 = usualMark) {
        self.start = start
        self.digest = digest
        self.end = end
        self.mark = mark
    }

    /// The whole line.
    package var bytes: [UInt8] { start + digest + end }

    /// The same for all lines that tell this kind of digest of this name.
    package var subject: Subject { Subject(start: start, end: end, length: digest.count) }

    /// What a line is about.
    package struct Subject: Sendable, Hashable {
        let start: [UInt8]
        let end: [UInt8]
        let length: Int
    }
}
