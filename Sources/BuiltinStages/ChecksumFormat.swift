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

    /// What is put behind a file's name for its sidecar, and behind a list's name.
    func ending(_ name: String) -> String { self == .json ? "\(name).json" : name }

    /// The sidecar of one file.
    func sidecar(_ digest: Digest) -> Companion {
        let parts: [Companion.Part] =
            switch self {
            case .gnu: [.checksumLine(digest: digest.hex)]
            case .bsd: [.taggedLine(tag: digest.algorithm.tag, digest: digest.hex)]
            case .json:
                [
                    .text(#"{"files":[{"#), .jsonPath,
                    .text(",\"\(digest.algorithm.rawValue)\":\"\(digest.hex)\"}]}\n"),
                ]
            }
        return Companion(suffix: ".\(ending(digest.algorithm.rawValue))", parts: parts)
    }

    /// A list of files, each with digests of some algorithms.
    func list(_ files: some Sequence<(file: TreeFile, digests: [Digest])>) -> [UInt8] {
        var bytes: [UInt8] = []
        switch self {
        case .gnu:
            for (file, digests) in files {
                for digest in digests { bytes += ChecksumLine.bytes(digest: digest.hex, path: file.bytes) }
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
