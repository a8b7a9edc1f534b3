/// The path of an entry, found harmless: below the folder that is extracted to, and short enough to be handled there.
struct EntryPath {
    /// Without `./` before it and `/` behind it, with a NUL at its end as the system calls take it; only the NUL for
    /// the top folder itself.
    private let path: [CChar]
    /// Where its last name begins.
    private let nameStart: Int
    /// How many folders are above it.
    let depth: Int
    /// As it was stored, for messages.
    let stored: [UInt8]

    init(_ stored: [UInt8], _ limits: ExtractionLimits) throws(ArchiveError) {
        guard !stored.isEmpty else { throw .unsafe(stored, "has no name") }
        guard stored[0] != UInt8(ascii: "/") else {
            throw .unsafe(stored, "has an absolute name, which leads out of the archive's folder")
        }
        guard stored.count + limits.pathAbove <= limits.path else {
            throw .limit(
                stored, "has a path of \(stored.count + limits.pathAbove) bytes, more than \(limits.path) (max_path)",
                remedy: "Raise `max_path` of the stage 'unpack', or recreate the archive with shorter names.")
        }
        // tar writes `./` before all names of a folder packed from within, and `/` behind those of folders.
        var part = stored[...]
        if part.starts(with: [UInt8(ascii: "."), UInt8(ascii: "/")]) { part = part.dropFirst(2) }
        if part.last == UInt8(ascii: "/") { part = part.dropLast() }
        if part.elementsEqual([UInt8(ascii: ".")]) { part = [] }
        (depth, nameStart) = try Self.check(part, stored, limits)
        var path: [CChar] = []
        path.reserveCapacity(part.count + 1)
        for byte in part { path.append(CChar(bitPattern: byte)) }
        path.append(0)
        self.path = path
        self.stored = stored
    }

    /// Goes over the names once; gives the number of folders, and where the last name begins.
    private static func check(
        _ part: ArraySlice<UInt8>, _ stored: [UInt8], _ limits: ExtractionLimits
    ) throws(ArchiveError) -> (depth: Int, nameStart: Int) {
        if part.isEmpty { return (0, 0) }
        var depth = 0
        var start = part.startIndex
        var isPlain = true
        for index in part.indices {
            let byte = part[index]
            if byte == UInt8(ascii: "/") {
                try check(name: part[start..<index], stored, limits)
                depth += 1
                start = index + 1
            } else if byte < 0x20 || byte == 0x7F {
                throw .unsafe(stored, "has a control character in its name")
            } else if byte >= 0x80 {
                isPlain = false
            }
        }
        if !isPlain { try checkLetters(part, stored) }
        try check(name: part[start...], stored, limits)
        let whole = depth + limits.depthAbove
        guard whole < limits.depth else {
            throw .limit(
                stored, "has a path of \(whole + 1) names, more than \(limits.depth) (max_depth)",
                remedy: "Raise `max_depth` of the stage 'unpack', or recreate the archive with fewer folders.")
        }
        return (depth, start - part.startIndex)
    }

    /// Letters beyond ASCII's: none that Unicode has for orders to whoever shows them.
    private static func checkLetters(_ part: ArraySlice<UInt8>, _ stored: [UInt8]) throws(ArchiveError) {
        // U+0080 to U+009F; in other character sets these bytes are letters.
        let isText = String(validating: part, as: UTF8.self) != nil
        for letter in String(decoding: part, as: UTF8.self).unicodeScalars {
            if isText, (0x80...0x9F).contains(letter.value) {
                throw .unsafe(stored, "has a control character in its name")
            }
            if letter.properties.isBidiControl {
                throw .unsafe(
                    stored,
                    "has a character in its name that changes the direction of text and can make it look "
                        + "like another")
            }
            if (0x2028...0x2029).contains(letter.value) {
                throw .unsafe(stored, "has a line or paragraph separator in its name")
            }
        }
    }

    private static func check(
        name: ArraySlice<UInt8>, _ stored: [UInt8], _ limits: ExtractionLimits
    ) throws(ArchiveError) {
        guard !name.isEmpty else { throw .unsafe(stored, "has an empty name between two slashes") }
        if name.first == UInt8(ascii: "."), name.count <= 2 {
            if name.count == 1 { throw .unsafe(stored, "has '.' in its name") }
            if name.last == UInt8(ascii: ".") {
                throw .unsafe(stored, "has '..' in its name, which leads out of its folder")
            }
        }
        guard name.count <= limits.name else {
            throw .limit(
                stored, "has a name of \(name.count) bytes, more than \(limits.name) (max_name)",
                remedy:
                    "Recreate the archive with shorter names, or raise `max_name` of the stage 'unpack'; file "
                    + "systems allow at most 255 bytes.")
        }
    }

    /// Whether it is the top folder itself (`./`).
    var isTop: Bool { path.count == 1 }

    /// The path without what tar puts before and behind it.
    var bytes: [UInt8] { path.dropLast().map { UInt8(bitPattern: $0) } }

    /// The path of the folder it lies in; empty for the top.
    var folder: ArraySlice<CChar> { path[..<max(0, nameStart - 1)] }

    /// The whole path, as that of a folder.
    var whole: ArraySlice<CChar> { path.dropLast() }

    func withName<Result>(_ body: (UnsafePointer<CChar>) -> Result) -> Result {
        path.withUnsafeBufferPointer { buffer in
            // It ends with a NUL, so it is never empty.
            guard let base = buffer.baseAddress else { preconditionFailure("a terminated path is never empty") }
            return body(base + nameStart)
        }
    }

    func isSame(as other: EntryPath) -> Bool { path == other.path }

    /// Checks the target of a symbolic link at this path: relative, and with `..` only at its beginning and only as
    /// often as there are folders above the link. After a name `..` could lead out through another link of that name;
    /// before all names it goes up real folders only, since no entry is ever put through a link.
    func checkLinkTarget(_ target: [UInt8], _ limits: ExtractionLimits) throws(ArchiveError) {
        guard let first = target.first else { throw .unsafe(stored, "is a symbolic link to nothing") }
        guard first != UInt8(ascii: "/") else { throw .unsafe(stored, "is a symbolic link to an absolute path") }
        guard target.count <= limits.path else {
            throw .limit(
                stored, "is a symbolic link to a path of \(target.count) bytes, more than \(limits.path) (max_path)",
                remedy: "Raise `max_path` of the stage 'unpack', or recreate the archive with shorter names.")
        }
        let orders = String(decoding: target, as: UTF8.self).unicodeScalars.contains {
            $0.value < 0x20 || $0.value == 0x7F || $0.properties.isBidiControl || (0x2028...0x2029).contains($0.value)
        }
        guard !orders else { throw .unsafe(stored, "is a symbolic link to a name with a control character") }
        guard Self.staysInside(target, depth: depth) else {
            throw .unsafe(stored, "is a symbolic link that can lead out of the archive's folder")
        }
    }

    /// Whether the target of a symbolic link that lies so many folders deep is relative and rises no further.
    static func staysInside(_ target: [UInt8], depth: Int) -> Bool {
        guard target.first != UInt8(ascii: "/") else { return false }
        var rises = 0
        var seenName = false
        for part in target.split(separator: UInt8(ascii: "/")) where !part.elementsEqual([UInt8(ascii: ".")]) {
            if part.elementsEqual([UInt8(ascii: "."), UInt8(ascii: ".")]) {
                rises += 1
                if seenName || rises > depth { return false }
            } else {
                seenName = true
            }
        }
        return true
    }
}
