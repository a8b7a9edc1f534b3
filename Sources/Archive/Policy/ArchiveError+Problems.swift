/// What is wrong with archives, in words.
extension ArchiveError {
    static func damaged(_ entry: [UInt8]?, _ fact: String = "is damaged or incomplete", detail: String = "")
        -> ArchiveError
    {
        .bad(
            Problem(
                code: .damaged, entry: entry, fact: fact,
                remedy: "Send the archive again; if that does not help, recreate it.", detail: detail))
    }

    static func early(_ what: String = "", detail: String = "") -> ArchiveError {
        .bad(
            Problem(
                code: .damaged, entry: nil, fact: "ends too early" + (what.isEmpty ? "" : ": \(what)"),
                remedy: "Send the archive again: it arrived incomplete.", detail: detail))
    }

    /// It ends with a file's data: an old rar does, and so does one that was truncated there.
    static let unended = ArchiveError.bad(
        Problem(
            code: .damaged, entry: nil, fact: "has no end record, so it may be incomplete",
            remedy: "RAR before 3.0 does not write one: repack the files with a newer version.", detail: ""))

    /// This many bytes follow its end (nil: an unknown number), and would not be unpacked.
    static func trailing(_ count: Int64? = nil) -> ArchiveError {
        let some =
            switch count {
            case .some(1): "1 byte"
            case .some(let count): "\(count) bytes"
            case nil: "more data"
            }
        return .bad(
            Problem(
                code: .damaged, entry: nil, fact: "has \(some) after its end that would not be unpacked",
                remedy: "Recreate the archive without the data after its end.", detail: ""))
    }

    /// It can be read in two ways. `fact`: about the entry, or the archive.
    static func ambiguous(_ entry: [UInt8]?, _ fact: String) -> ArchiveError {
        .bad(
            Problem(
                code: .ambiguous, entry: entry, fact: "\(fact), so other programs may read it differently",
                remedy: "Recreate the archive with another program.", detail: ""))
    }

    static func part(_ entry: [UInt8]? = nil, remedy: String = "Join the parts and send the complete archive.")
        -> ArchiveError
    {
        let whole = "is one part of a split archive"
        return .bad(
            Problem(
                code: .unsupported, entry: entry,
                fact: entry == nil ? whole : "continues in, or began in, another part of a split archive",
                remedy: remedy, detail: ""))
    }

    static func unsafe(_ entry: [UInt8], _ fact: String) -> ArchiveError {
        .bad(
            Problem(
                code: .unsafeEntry, entry: entry, fact: fact,
                remedy: "Recreate the archive without that entry; nothing was extracted.", detail: ""))
    }

    static func conflict(_ entry: [UInt8], _ fact: String) -> ArchiveError {
        .bad(
            Problem(
                code: .conflictingEntries, entry: entry, fact: fact,
                remedy: "Recreate the archive with each name only once.", detail: ""))
    }

    /// `passwords`: how many were tried. `isZip`: whether one could open it.
    static func encrypted(_ entry: [UInt8]?, passwords: Int = 0, isZip: Bool = true) -> ArchiveError {
        let fact =
            switch passwords {
            case 0: "is encrypted"
            case 1: "is encrypted: the password in `passwords_file` does not open it, or it is damaged"
            default:
                "is encrypted: none of the \(passwords) passwords in `passwords_file` opens it, or it "
                    + "is damaged"
            }
        return .bad(
            Problem(
                code: .encrypted, entry: entry, fact: fact,
                remedy: isZip
                    ? "Send the archive without a password, or add its password to `passwords_file` (zip only)."
                    : "Send the archive without a password.",
                detail: ""))
    }

    /// `whole`: the message if no entry can be named.
    static func limit(_ entry: [UInt8]?, _ fact: String, whole: String? = nil, remedy: String) -> ArchiveError {
        .bad(
            Problem(
                code: .limit, entry: entry.map { Array($0.prefix(200)) },
                fact: entry == nil ? whole ?? fact : fact, remedy: remedy, detail: ""))
    }

    /// What a file system may run out of.
    enum Room: String {
        case bytes, files
    }

    /// The archive alone needs more than the file system `had` when unpacking began.
    static func noRoom(_ entry: [UInt8]?, for room: Room, had: Int64) -> ArchiveError {
        let remedy =
            switch room {
            case .bytes: "Free space there and send the archive again, or set a lower `min_free`."
            case .files: "Delete files there, of any size, and send the archive again."
            }
        return .bad(
            Problem(
                code: .noRoom, entry: entry,
                fact: "does not fit: the file system had \(had) \(room.rawValue) available when unpacking began",
                remedy: remedy, detail: ""))
    }

    /// Others took the space that was there when unpacking began.
    static func diskFull(_ entry: [UInt8]?, of room: Room) -> ArchiveError {
        let (fact, remedy) =
            switch room {
            case .bytes:
                (
                    "the file system is down to its reserve (min_free)",
                    "Free space there, or set a lower `min_free`"
                )
            case .files: ("the file system is out of inodes", "Delete files there, of any size")
            }
        return .bad(
            Problem(
                code: .diskFull, entry: entry, fact: "has no space left: \(fact)",
                remedy: "\(remedy); processing resumes by itself.", detail: ""))
    }

    static func unverifiable(_ why: String) -> ArchiveError {
        .bad(
            Problem(
                code: .unverifiable, entry: nil,
                fact: "cannot be checked for damage (\(why)), which `require_integrity` demands",
                remedy: "Use a format with checksums: zip, or tar with gzip or xz.", detail: ""))
    }

    static let empty = ArchiveError.bad(
        Problem(
            code: .empty, entry: nil, fact: "contains no entries", remedy: "Check that the sender packed anything.",
            detail: ""))

    static func unsupported(
        _ entry: [UInt8]?, _ fact: String,
        remedy: String = "Use a common format: zip with deflate, or tar with gzip, xz or zstd.", detail: String = ""
    ) -> ArchiveError {
        .bad(Problem(code: .unsupported, entry: entry, fact: fact, remedy: remedy, detail: detail))
    }
}
