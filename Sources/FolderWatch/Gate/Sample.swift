package import Files
package import SystemPackage

/// What one look at a candidate found.
package enum Sample: Sendable, Hashable {
    /// A regular file, or a folder where folders are drops.
    case file(Fingerprint, OpenWriters)
    /// Nothing of that name.
    case gone
    /// Something that is never taken; why.
    case refused(String)
    /// Something that cannot be opened or examined for now, for a reason of its own; its fingerprint, if known.
    case blocked(Errno, Fingerprint?)
}
