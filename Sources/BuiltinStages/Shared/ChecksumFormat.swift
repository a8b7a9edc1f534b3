import Digests
import Files
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
    func sidecar(_ digest: Digest) -> Sidecar {
        Sidecar(suffix: ".\(ending(digest.algorithm))", parts: document(digest))
    }

    /// The line of one file in a list; nil where lists have no lines.
    func line(_ digest: Digest, in list: FileName) -> ListLine? {
        guard let (start, text, end) = line(digest) else { return nil }
        let mark = self == .sfv ? UInt8(ascii: ";") : ListText.usualMark
        return ListLine(list: list, start: start, digest: text, end: end, mark: mark)
    }

    /// A list of files, each with digests of some algorithms.
    func list(_ files: some Sequence<(file: TreeFile, digests: [Digest])>) -> [UInt8] {
        if self == .json { return jsonList(files) }
        var bytes: [UInt8] = []
        for (file, digests) in files {
            for digest in digests {
                for part in document(digest) { part.write(file.bytes, to: &bytes) }
            }
        }
        return bytes
    }

    /// What a line for one file has around the digest; nil for JSON.
    private func line(_ digest: Digest) -> (start: [Sidecar.Part], digest: String, end: [Sidecar.Part])? {
        let algorithm = digest.algorithm
        return switch self {
        case .gnu:
            ([.escapeMark, .text(algorithm.prefix)], digest.hex, [.text("  "), .name(.checksumList), .text("\n")])
        case .bsd:
            (
                [.escapeMark, .text("\(algorithm.tag) ("), .name(.checksumList), .text(") = ")], digest.hex,
                [.text("\n")]
            )
        case .sfv: ([.name(.verbatim), .text(" ")], digest.hex.uppercased(), [.text("\n")])
        case .json: nil
        }
    }

    /// A line, or in JSON a whole document, for one file.
    private func document(_ digest: Digest) -> [Sidecar.Part] {
        if let (start, text, end) = line(digest) { return Self.merged(start + [.text(text)] + end) }
        return [
            .text(#"{"files":[{"#), .name(.jsonMember("path")),
            .text(",\"\(digest.algorithm.rawValue)\":\"\(digest.hex)\"}]}\n"),
        ]
    }

    /// The same with texts that follow each other as one.
    private static func merged(_ parts: [Sidecar.Part]) -> [Sidecar.Part] {
        parts.reduce(into: []) { merged, part in
            if case .text(let text) = part, case .text(let before) = merged.last {
                merged[merged.count - 1] = .text(before + text)
            } else {
                merged.append(part)
            }
        }
    }

    private func jsonList(_ files: some Sequence<(file: TreeFile, digests: [Digest])>) -> [UInt8] {
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
        return json.bytes
    }
}
