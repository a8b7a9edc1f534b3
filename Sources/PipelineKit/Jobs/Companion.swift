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
