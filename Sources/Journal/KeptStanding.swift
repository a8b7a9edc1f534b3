package import Files

/// What there is of the originals in a folder.
package struct KeptStanding: Sendable, Equatable {
    /// How many there are that are to go some day, and how many bytes they have together.
    package var files: Int
    package var bytes: Int64
    /// How many turned out not to be as they were left.
    package var changed: Int
    /// The name of the hidden folder there by which it is known again; nil where there is none yet.
    package var mark: String?
    /// Up to when it is known what jobs have left there; nil: it is not.
    package var collected: Timestamp?

    package init(
        files: Int = 0, bytes: Int64 = 0, changed: Int = 0, mark: String? = nil, collected: Timestamp? = nil
    ) {
        (self.files, self.bytes, self.changed) = (files, bytes, changed)
        (self.mark, self.collected) = (mark, collected)
    }

    /// One fewer.
    package mutating func leaveOut(_ file: KeptFile) {
        files = max(0, files.subtractingSaturated(1))
        bytes = max(0, bytes.subtractingSaturated(file.bytes))
    }
}
