/// Writes tar archives (POSIX ustar), also such as no program would make.
package struct TarBuilder: Sendable {
    /// The archive so far.
    package private(set) var bytes: [UInt8] = []
    /// Where each entry ends: at these lengths a cut archive looks whole but for the mark of its end.
    package private(set) var boundaries: [Int] = []

    /// An archive without entries.
    package init() {}

    /// Types of entries, as `typeflag` has them.
    package enum Kind: Character, Sendable {
        case file = "0", hardLink = "1", symbolicLink = "2", characterDevice = "3", blockDevice = "4", folder = "5",
            fifo = "6"
        /// A file with holes, as GNU tar writes it.
        case sparse = "S"
        /// What is left of a file that began in another volume (GNU tar).
        case continued = "M"
        /// What is said of all entries behind it (pax).
        case global = "g"
    }

    /// Adds an entry. Names are at most 100 bytes long here. `claimed`: a size that is not the content's; `logical`:
    /// the size of a sparse file, whose content lies at its beginning.
    package mutating func add(
        _ name: [UInt8], _ kind: Kind = .file, content: [UInt8] = [], target: String = "", mode: Int = 0o644,
        modified: Int = 1_700_000_000, claimed: Int? = nil, logical: Int? = nil
    ) {
        var header = [UInt8](repeating: 0, count: 512)
        func put(_ bytes: some Sequence<UInt8>, at offset: Int) {
            for (index, byte) in bytes.enumerated() { header[offset + index] = byte }
        }
        func octal(_ value: Int, _ digits: Int) -> [UInt8] {
            let text = String(value, radix: 8)
            return Array((String(repeating: "0", count: digits - text.count) + text).utf8)
        }
        put(name.prefix(100), at: 0)
        put(octal(mode, 7), at: 100)
        put(octal(0, 7), at: 108)
        put(octal(0, 7), at: 116)
        put(octal(claimed ?? content.count, 11), at: 124)
        put(octal(modified, 11), at: 136)
        put("        ".utf8, at: 148)
        put(String(kind.rawValue).utf8, at: 156)
        put(target.utf8.prefix(100), at: 157)
        put((kind == .sparse ? "ustar  \u{0}" : "ustar\u{0}00").utf8, at: 257)
        if let logical {
            // One piece of data; the file's size in binary, since it may be large (GNU tar, "oldgnu" headers).
            put(octal(0, 11), at: 386)
            put(octal(content.count, 11), at: 398)
            put([0x80, 0, 0, 0] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: logical >> ($0 * 8)) }, at: 483)
        }
        put(octal(header.reduce(0) { $0 + Int($1) }, 6) + [0], at: 148)
        bytes += header + content
        bytes += [UInt8](repeating: 0, count: (512 - content.count % 512) % 512)
        boundaries.append(bytes.count)
    }

    /// The same with a name in text.
    package mutating func add(
        _ name: String, _ kind: Kind = .file, content: String = "", target: String = "", mode: Int = 0o644,
        modified: Int = 1_700_000_000
    ) {
        add(Array(name.utf8), kind, content: Array(content.utf8), target: target, mode: mode, modified: modified)
    }

    /// A header that says something of all entries behind it (pax, `g`), and its content; it is no entry.
    package static var globalHeader: [UInt8] {
        let record = Array("18 comment=global\n".utf8)
        var tar = TarBuilder()
        tar.add(Array("g".utf8), .global, content: record)
        return tar.bytes
    }

    /// The archive with the two blocks that end it.
    package var finished: [UInt8] { bytes + [UInt8](repeating: 0, count: 1024) }
}
