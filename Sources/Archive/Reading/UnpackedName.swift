/// What a compressed file is called once it is unpacked.
package enum UnpackedName {
    /// Endings of compressed files in lower case, and what stands in their place.
    private static let endings: [(ending: String, replacement: String)] = [
        (".gz", ""), (".bz2", ""), (".xz", ""), (".zst", ""), (".lz4", ""), (".lzma", ""), (".lz", ""), (".z", ""),
        (".tgz", ".tar"), (".taz", ".tar"), (".tbz", ".tar"), (".tbz2", ".tar"), (".txz", ".tar"), (".tzst", ".tar"),
        (".tlz", ".tar"), (".svgz", ".svg"),
    ]

    /// `report.csv` for `report.csv.gz`, `a.tar` for `a.tgz`; a name without a known ending stays as it is.
    package static func of(_ name: [UInt8]) -> [UInt8] {
        for (ending, replacement) in endings {
            let stem = name.count - ending.utf8.count
            guard stem > 0, name[stem - 1] != UInt8(ascii: "/") else { continue }
            let tail = name[stem...].map { (0x41...0x5A).contains($0) ? $0 | 0x20 : $0 }
            guard tail.elementsEqual(ending.utf8) else { continue }
            let unpacked = Array(name[..<stem]) + Array(replacement.utf8)
            return unpacked.isHarmless ? unpacked : name
        }
        return name
    }
}

extension [UInt8] {
    fileprivate var isHarmless: Bool {
        let last = split(separator: UInt8(ascii: "/")).last ?? []
        return !last.elementsEqual([UInt8(ascii: ".")]) && !last.elementsEqual([UInt8(ascii: "."), UInt8(ascii: ".")])
    }
}
