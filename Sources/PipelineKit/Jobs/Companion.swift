/// A file that a stage makes beside a single-file payload, such as `report.pdf.sha256`. Its text may name the payload,
/// whose name is settled only when it is published (`on_conflict: rename`), so the text is made then.
package struct Companion: Sendable, Hashable {
    /// A part of the text.
    package enum Part: Sendable, Hashable {
        /// Text as it is.
        case text(String)
        /// The payload's name as it is.
        case name
        /// A line of a GNU checksum file for the payload: digest in hexadecimal, then the payload's name.
        case checksumLine(digest: String)
        /// The same as BSD has it, with the algorithm's name in front.
        case taggedLine(tag: String, digest: String)
        /// The payload's name as JSON's members `path` and, where it is not UTF-8, `path_base64`.
        case jsonPath
    }

    /// What is put behind the payload's name: `.sha256`.
    package var suffix: String
    /// The text, in parts.
    package var parts: [Part]

    /// A companion.
    package init(suffix: String, parts: [Part]) {
        self.suffix = suffix
        self.parts = parts
    }

    /// The text for a payload of this name.
    package func contents(for name: FileName) -> [UInt8] {
        parts.flatMap { part in
            switch part {
            case .text(let text): Array(text.utf8)
            case .name: name.bytes
            case .checksumLine(let digest): ChecksumLine.bytes(digest: digest, path: name.bytes)
            case .taggedLine(let tag, let digest): ChecksumLine.bytes(tag: tag, digest: digest, path: name.bytes)
            case .jsonPath: JSONText.members { $0.name("path", name.bytes) }
            }
        }
    }
}

/// One line as `sha256sum` writes and reads it.
package enum ChecksumLine {
    /// `DIGEST  PATH\n`. A path with a newline, a carriage return or a backslash is escaped and the line begins with a
    /// backslash (GNU coreutils, "md5sum invocation").
    package static func bytes(digest: String, path: [UInt8]) -> [UInt8] {
        line(of: path) { escaped in Array(digest.utf8) + [0x20, 0x20] + escaped }
    }

    /// `TAG (PATH) = DIGEST\n`, as `sha256sum --tag` and BSD's tools have it, with the same escapes.
    package static func bytes(tag: String, digest: String, path: [UInt8]) -> [UInt8] {
        line(of: path) { escaped in Array("\(tag) (".utf8) + escaped + Array(") = \(digest)".utf8) }
    }

    private static func line(of path: [UInt8], _ compose: ([UInt8]) -> [UInt8]) -> [UInt8] {
        let needsEscape = path.contains { $0 == 0x0A || $0 == 0x0D || $0 == 0x5C }
        return needsEscape ? [0x5C] + compose(escaped(path)) + [0x0A] : compose(path) + [0x0A]
    }

    private static func escaped(_ path: [UInt8]) -> [UInt8] {
        path.flatMap { byte -> [UInt8] in
            switch byte {
            case 0x0A: [0x5C, UInt8(ascii: "n")]
            case 0x0D: [0x5C, UInt8(ascii: "r")]
            case 0x5C: [0x5C, 0x5C]
            default: [byte]
            }
        }
    }
}
