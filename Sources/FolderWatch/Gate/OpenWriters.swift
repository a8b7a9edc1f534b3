/// Whether some process has a file open for writing.
package enum OpenWriters: Sendable, Hashable {
    case none
    /// At least one has; which one, if known.
    case some(Waiting.Writer)
    /// Unknown: no leases on this file system, or the file belongs to another user.
    case unknown
    /// Not checked.
    case notAsked

    /// Whether a process is known to have it open for writing.
    package var areKnown: Bool { if case .some = self { true } else { false } }
}
