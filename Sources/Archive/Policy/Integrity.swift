/// Whether an archive's content is proved to be what was packed.
package enum Integrity: UInt8, Sendable, Comparable {
    /// Nothing in the archive, or not everything of it, could have told.
    case unverifiable
    /// Every byte is covered by a checksum, and all of them are right.
    case verified

    /// The weaker first.
    package static func < (left: Integrity, right: Integrity) -> Bool { left.rawValue < right.rawValue }
}
