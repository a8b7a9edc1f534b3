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

extension ArchiveError {
    static func damaged(_ entry: [UInt8]?, _ fact: String = "is damaged or incomplete", detail: String = "")
        -> ArchiveError
    {
        .bad(
            Problem(
                code: .damaged, entry: entry, fact: fact,
                remedy: "Send the archive again; if that does not help, make it anew.", detail: detail))
    }

    static func unsafe(_ entry: [UInt8], _ fact: String) -> ArchiveError {
        .bad(
            Problem(
                code: .unsafeEntry, entry: entry, fact: fact,
                remedy: "Make the archive anew without that entry; nothing was taken from it.", detail: ""))
    }

    static func conflict(_ entry: [UInt8], _ fact: String) -> ArchiveError {
        .bad(
            Problem(
                code: .conflictingEntries, entry: entry, fact: fact,
                remedy: "Make the archive anew, with every name in it once.", detail: ""))
    }

    /// `passwords`: how many were tried.
    static func encrypted(_ entry: [UInt8]?, passwords: Int = 0) -> ArchiveError {
        let fact =
            switch passwords {
            case 0: "is encrypted"
            case 1: "is encrypted, and the password of the list (passwords_file) does not open it, or it is damaged"
            default:
                "is encrypted, and none of the \(passwords) passwords of the list (passwords_file) opens it, or it "
                    + "is damaged"
            }
        return .bad(
            Problem(
                code: .encrypted, entry: entry, fact: fact,
                remedy:
                    "Send the archive without a password, or have its password put into `passwords_file` (zip only).",
                detail: ""))
    }

    /// `whole`: what is said where no entry can be named.
    static func limit(_ entry: [UInt8]?, _ fact: String, whole: String? = nil, remedy: String) -> ArchiveError {
        .bad(
            Problem(
                code: .limit, entry: entry.map { Array($0.prefix(200)) },
                fact: entry == nil ? whole ?? fact : fact, remedy: remedy, detail: ""))
    }

    /// What a file system may have too little of.
    enum Room: String {
        case bytes, files
    }

    /// The archive alone is more than the file system `had` to give when it was begun.
    static func noRoom(_ entry: [UInt8]?, for room: Room, had: Int64) -> ArchiveError {
        let remedy =
            switch room {
            case .bytes: "Free space there and send the archive again, or set a lower `min_free`."
            case .files: "Delete files there, of whatever size, and send the archive again."
            }
        return .bad(
            Problem(
                code: .noRoom, entry: entry,
                fact: "does not fit: the file system had \(had) \(room.rawValue) to give when the archive was begun",
                remedy: remedy, detail: ""))
    }

    /// Others took what was there when the archive was begun.
    static func diskFull(_ entry: [UInt8]?, of room: Room) -> ArchiveError {
        let (fact, remedy) =
            switch room {
            case .bytes:
                (
                    "the file system is down to what must stay free of it (min_free)",
                    "Free space there, or set a lower `min_free`"
                )
            case .files: ("the file system takes no more files", "Delete files there, of whatever size")
            }
        return .bad(
            Problem(
                code: .diskFull, entry: entry, fact: "has no room any more: \(fact)",
                remedy: "\(remedy); work goes on by itself.", detail: ""))
    }

    static func unverifiable(_ why: String) -> ArchiveError {
        .bad(
            Problem(
                code: .unverifiable, entry: nil,
                fact: "cannot be checked for damage (\(why)), and only what can be is taken here (require_integrity)",
                remedy: "Pack it in a way that carries checksums: zip, or tar with gzip or xz.", detail: ""))
    }

    static let empty = ArchiveError.bad(
        Problem(
            code: .empty, entry: nil, fact: "holds no entries", remedy: "Look whether the sender packed anything.",
            detail: ""))

    static func unsupported(_ entry: [UInt8]?, _ fact: String, detail: String) -> ArchiveError {
        .bad(
            Problem(
                code: .unsupported, entry: entry, fact: fact,
                remedy: "Pack it in a common way: zip with deflate, or tar with gzip, xz or zstd.", detail: detail))
    }
}

extension Errno {
    /// Whether it is how a call is refused to a confined process, or to one in a container. What a helper works with it
    /// was given open, and files that it makes are its own: so an archive cannot be the reason.
    package var isOfConfinement: Bool { [.noFunction, .notPermitted, .permissionDenied].contains(self) }
}
