package import SystemPackage

/// Why an archive could not be read or extracted.
package enum ArchiveError: Error, Sendable, Equatable {
    /// The archive itself is at fault.
    case bad(Problem)
    /// A system call failed: what was being done, for which entry (nil: the archive), and the kernel's word on it.
    case system(action: String, entry: [UInt8]?, errno: Errno)
    /// The caller asked to stop.
    case stopped

    /// What is wrong with an archive.
    package struct Problem: Sendable, Equatable {
        /// What kind of problem it is.
        package let code: Code
        /// The name of the entry it is about, as bytes; nil: the archive as a whole.
        package let entry: [UInt8]?
        /// The rest of a sentence whose subject is the entry or the archive: `is damaged or incomplete`.
        package let fact: String
        /// What to do about it: a sentence.
        package let remedy: String
        /// What the library said, or empty.
        package let detail: String
    }

    /// Kinds of problems; stable words for programs.
    package enum Code: String, Sendable, CaseIterable {
        /// Not all there, or not as it was written.
        case damaged = "archive.damaged"
        /// An entry could reach out of its folder, or is something that only a system's owner may make.
        case unsafeEntry = "archive.unsafe-entry"
        /// Other programs would find something else in it.
        case ambiguous = "archive.ambiguous"
        /// Two entries that cannot both be.
        case conflictingEntries = "archive.conflicting-entries"
        /// Needs a password.
        case encrypted = "archive.encrypted"
        /// Holds nothing.
        case empty = "archive.empty"
        /// More than is unpacked: bytes, entries, names, or what comes out for what was read.
        case limit = "archive.limit"
        /// More than the file system could take when it was begun.
        case noRoom = "archive.no-room"
        /// No fault of the archive: others took the room that was there.
        case diskFull = "archive.disk-full"
        /// Nothing in it proves that its content is what was packed.
        case unverifiable = "archive.unverifiable"
        /// Of a kind that cannot be read here.
        case unsupported = "archive.unsupported"
    }
}

extension Errno {
    /// Whether it is how a call is refused to a confined process, or to one in a container. What a helper works with it
    /// was given open, and files that it makes are its own: so an archive cannot be the reason.
    package var isOfConfinement: Bool { [.noFunction, .notPermitted, .permissionDenied].contains(self) }
}
