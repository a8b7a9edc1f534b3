import Digests
import PipelineKit

/// How digests are written down.
enum ChecksumFormat: String, CaseIterable, Sendable {
    /// `DIGEST  NAME`: what `sha256sum -c` reads.
    case gnu
    /// `SHA256 (NAME) = DIGEST`: tells the algorithm, so that one list can hold several.
    case bsd
    /// `{"files":[{"path":"NAME","sha256":"DIGEST"}]}`
    case json
    /// `NAME CRC`, as programs for SFV lists have it: of CRC-32 alone, and of names of one line.
    case sfv

    /// What is put behind a file's name for its sidecar.
    func ending(_ algorithm: DigestAlgorithm) -> String {
        switch self {
        case .gnu, .bsd: algorithm.rawValue
        case .json: "\(algorithm.rawValue).json"
        case .sfv: "sfv"
        }
    }

    /// What a list is called where nobody says.
    func listName(_ algorithm: DigestAlgorithm) -> String {
        switch self {
        case .gnu, .bsd: algorithm.listName
        case .json: "\(algorithm.listName).json"
        case .sfv: "files.sfv"
        }
    }

    /// Whether a line can hold the path: nothing is escaped in SFV, where `;` begins a comment, and readers cut blanks.
    func holds(_ path: [UInt8]) -> Bool {
        guard self == .sfv else { return true }
        let edges = [path.first, path.last].compactMap(\.self)
        return !path.contains { $0 == 0x0A || $0 == 0x0D } && path.first != UInt8(ascii: ";")
            && !edges.contains { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }
    }

    /// The sidecar of one file.
    func sidecar(_ digest: Digest) -> Companion {
        let parts: [Companion.Part] =
            switch self {
            case .gnu: [.checksumLine(digest: digest.algorithm.prefix + digest.hex)]
            case .sfv: [.name, .text(" \(digest.hex.uppercased())\n")]
            case .bsd: [.taggedLine(tag: digest.algorithm.tag, digest: digest.hex)]
            case .json:
                [
                    .text(#"{"files":[{"#), .jsonPath,
                    .text(",\"\(digest.algorithm.rawValue)\":\"\(digest.hex)\"}]}\n"),
                ]
            }
        return Companion(suffix: ".\(ending(digest.algorithm))", parts: parts)
    }

    /// A list of files, each with digests of some algorithms.
    func list(_ files: some Sequence<(file: TreeFile, digests: [Digest])>) -> [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .gnu:
            for (file, digests) in files {
                for digest in digests {
                    bytes += ChecksumLine.bytes(digest: digest.algorithm.prefix + digest.hex, path: file.bytes)
                }
            }
        case .sfv:
            for (file, digests) in files {
                for digest in digests { bytes += file.bytes + Array(" \(digest.hex.uppercased())\n".utf8) }
            }
        case .bsd:
            for (file, digests) in files {
                for digest in digests {
                    bytes += ChecksumLine.bytes(tag: digest.algorithm.tag, digest: digest.hex, path: file.bytes)
                }
            }
        case .json:
            var json = JSONText()
            json.object { json in
                json.array("files") { json in
                    for (file, digests) in files {
                        json.object { json in
                            json.name("path", file.bytes)
                            for digest in digests { json.text(digest.algorithm.rawValue, digest.hex) }
                        }
                    }
                }
            }
            json.newline()
            bytes = json.bytes
        }
        return bytes
    }
}
