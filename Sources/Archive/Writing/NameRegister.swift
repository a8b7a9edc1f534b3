/// Tells names apart that some file systems do not: those that differ in case only, or in how Unicode composes a
/// letter.
struct NameRegister {
    /// Every path, and every folder on the way to it, by what all spellings of it have in common.
    private var spellings: [String: [UInt8]] = [:]

    /// Takes a path in; throws where it is another spelling of one that is there.
    mutating func add(_ path: EntryPath) throws(ArchiveError) {
        let bytes = path.bytes
        for end in bytes.indices where bytes[end] == UInt8(ascii: "/") {
            try add(Array(bytes[..<end]), of: path)
        }
        if !bytes.isEmpty { try add(bytes, of: path) }
    }

    private mutating func add(_ spelling: [UInt8], of path: EntryPath) throws(ArchiveError) {
        let known = spellings.updateValue(spelling, forKey: Self.common(spelling))
        if let known, known != spelling {
            throw .conflict(
                path.stored,
                "has a name that differs from '\(String(decoding: known, as: UTF8.self))' only in case or in how its "
                    + "letters are composed (unique_names: strict)")
        }
    }

    /// Strings are equal where their composed forms are (Unicode's canonical equivalence). Upper and then lower case
    /// brings `ß` and `SS` together, as case folding does.
    private static func common(_ path: [UInt8]) -> String {
        if let text = String(validating: path, as: UTF8.self) { return text.uppercased().lowercased() }
        // What is no text has no case either. No name has a NUL.
        return path.reduce(into: "\0") { $0.unicodeScalars.append(Unicode.Scalar($1)) }
    }
}
