import PipelineKit

/// What a compressed file is called once it is unpacked.
enum UnpackedName {
    /// Endings of compressed files in lower case, and what stands in their place.
    private static let endings: [(ending: String, replacement: String)] = [
        (".gz", ""), (".bz2", ""), (".xz", ""), (".zst", ""), (".lz4", ""), (".lzma", ""), (".lz", ""), (".z", ""),
        (".tgz", ".tar"), (".taz", ".tar"), (".tbz", ".tar"), (".tbz2", ".tar"), (".txz", ".tar"), (".tzst", ".tar"),
        (".tlz", ".tar"), (".svgz", ".svg"),
    ]

    /// `report.csv` for `report.csv.gz`, `a.tar` for `a.tgz`; a name without a known ending stays as it is.
    static func of(_ name: FileName) -> FileName {
        for (ending, replacement) in endings {
            guard name.bytes.count > ending.utf8.count else { continue }
            let tail = name.bytes.suffix(ending.utf8.count).map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
            guard tail.elementsEqual(ending.utf8) else { continue }
            return FileName(name.bytes.dropLast(ending.utf8.count) + Array(replacement.utf8)) ?? name
        }
        return name
    }
}
