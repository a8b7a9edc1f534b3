/// What a list of digests says: `SHA256SUMS`, `a.md5`, `files.sfv`, a BagIt manifest, the content of a marker. Pure;
/// reads what `sha256sum` (also with `--tag`, with `--zero`), BSD's tools, `openssl dgst`, `xxhsum`, `b3sum`, SFV
/// programs and BagIt tools write, also within a PGP signature, which is not looked at. For small texts: files of
/// strangers are read by `DigestListReader`.
package struct DigestList: Sendable, Equatable {
    /// How lines are to be read.
    package enum Form: Sendable {
        /// Digests; `#` and `;` begin lines that say nothing.
        case digests
        /// `NAME CRC`, as SFV programs have it; `;` begins lines that say nothing.
        case sfv
        /// As `digests`, and a number that is not a digest is a size in bytes.
        case digestsAndSizes
        /// A manifest of a BagIt bag (RFC 8493, 2.1.3): white space of any length; paths stay encoded (`BagPath`).
        case bagIt
        /// `fetch.txt` of a bag (RFC 8493, 2.2.3): `URL SIZE PATH`, where the size may be `-`.
        case bagItFetch
    }

    /// What a file is to be like.
    package enum Expected: Sendable, Hashable {
        case digest(Digest)
        case size(Int64)
        case anything
    }

    /// What is said of one file.
    package struct Line: Sendable, Hashable {
        /// The path as it is written, without escapes; nil where the line names none.
        package let path: [UInt8]?
        /// What the file is to be like.
        package let expected: Expected
        /// Whether a star stands before the path, as `md5sum` marks files that are no text.
        package var isMarked = false

        /// The digest that it is to have; nil where something else is told.
        package var digest: Digest? {
            if case .digest(let digest) = expected { digest } else { nil }
        }
    }

    /// The files, in order, up to a line that cannot be read.
    package private(set) var lines: [Line] = []
    /// The first line that says nothing that can be read, counted from 1.
    package private(set) var strangeLine: Int?

    /// Reads a list. `algorithm`: what the list's name says; nil where it says nothing, and the length of a digest
    /// does.
    package init(_ text: [UInt8], algorithm: DigestAlgorithm?, form: Form = .digests) {
        var reader = DigestListReader(text, LineReader(algorithm: algorithm, form: form))
        do throws(DigestListReader.Problem) {
            while let line = try reader.next() { lines.append(line) }
        } catch {
            if case .strange(let line) = error { strangeLine = line }
        }
    }

    /// The lines of a text, whichever of LF, CR and CRLF ends them.
    package static func lines(of text: [UInt8]) -> [ArraySlice<UInt8>] {
        var lines: [ArraySlice<UInt8>] = []
        var start = 0
        var index = 0
        while index < text.count {
            if text[index] == 0x0A || text[index] == 0x0D {
                lines.append(text[start..<index])
                if text[index] == 0x0D, index + 1 < text.count, text[index + 1] == 0x0A { index += 1 }
                start = index + 1
            }
            index += 1
        }
        if start < text.count { lines.append(text[start...]) }
        return lines
    }
}
