package import Files

/// A file that goes beside a single-file payload, such as `report.pdf.sha256`. Its text may name the payload, whose
/// name is settled only when it is published (`on_conflict: rename`), so the text is made then.
package struct Sidecar: Sendable, Hashable {
    /// A part of the text.
    package enum Part: Sendable, Hashable {
        case text(String)
        /// The payload's name.
        case name(Escape)
        /// A backslash, where `checksumList` changes the name; else nothing. Stands at the beginning of its line.
        case escapeMark
    }

    /// How a name is written.
    package enum Escape: Sendable, Hashable {
        /// Its bytes as they are.
        case verbatim
        /// As in lists of checksums: a newline, a carriage return and a backslash get a backslash (GNU coreutils,
        /// "md5sum invocation").
        case checksumList
        /// As the member of a JSON object that has this key and, where the name is not UTF-8, `KEY_base64`.
        case jsonMember(String)
    }

    /// What is put behind the payload's name: `.sha256`.
    package var suffix: String
    package var parts: [Part]

    package init(suffix: String, parts: [Part]) {
        self.suffix = suffix
        self.parts = parts
    }

    /// The text for a payload of this name.
    package func contents(for name: FileName) -> [UInt8] {
        var bytes: [UInt8] = []
        for part in parts { part.write(name.bytes, to: &bytes) }
        return bytes
    }
}

extension Sidecar.Part {
    /// Adds the part to a text that is about this name or path.
    package func write(_ name: [UInt8], to bytes: inout [UInt8]) {
        switch self {
        case .text(let text): bytes += text.utf8
        case .name(.verbatim): bytes += name
        case .name(.checksumList):
            for byte in name {
                let letter = Self.escape(byte)
                if letter != nil { bytes.append(UInt8(ascii: "\\")) }
                bytes.append(letter ?? byte)
            }
        case .name(.jsonMember(let key)): bytes += JSONText.members { $0.name(key, name) }
        case .escapeMark: if name.contains(where: { Self.escape($0) != nil }) { bytes.append(UInt8(ascii: "\\")) }
        }
    }

    /// What stands behind a backslash for it; nil where it stands for itself.
    private static func escape(_ byte: UInt8) -> UInt8? {
        switch byte {
        case 0x0A: UInt8(ascii: "n")
        case 0x0D: UInt8(ascii: "r")
        case 0x5C: 0x5C
        default: nil
        }
    }
}
