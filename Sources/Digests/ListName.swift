/// What the names of lists and sidecars say. Pure.
extension DigestList {
    /// Whether a file is a list by its name. A name such as `CHECKSUMS` or `hashes.txt` promises less than one that
    /// speaks of an algorithm's sums: what cannot be read under such a name is a file like any other.
    package enum NameKind: Sendable, Hashable {
        case list
        case perhaps
        /// A signature of a list, which may lie in a file of its own or around the list's text (`SHA256SUMS.asc`).
        case signature
        /// A list in a form that is not read, such as JSON.
        case foreign
        case none
    }

    /// What a name says.
    package static func kind(ofName name: [UInt8]) -> NameKind {
        let text = folded(name)
        if let base = text.without([".asc", ".gpg", ".sig", ".sign", ".minisig", ".p7s"]) {
            return kind(of: base) == .none ? .none : .signature
        }
        return kind(of: text)
    }

    private static func kind(of text: String) -> NameKind {
        if let base = text.without([".json", ".xml", ".gz", ".xz"]) {
            return kind(of: base) == .none ? .none : .foreign
        }
        if text.hasSuffix(".sfv") { return .list }
        if DigestAlgorithm(rawValue: text) != nil { return .perhaps }
        let base = text.without([".txt"])
        if known.contains(where: { $0.isMeant(by: text, base) }) { return .list }
        if foreign.contains(where: { $0.isMeant(by: text, base) }) { return .foreign }
        let words = (base ?? text).split { ".-_ ".contains($0) }
        let isGeneral = [words.first, words.last].contains { word in
            word.map { ["checksum", "checksums", "digests", "hashes"].contains($0) || $0.hasPrefix("shasum") } ?? false
        }
        return isGeneral ? .perhaps : .none
    }

    /// `SHA3_256SUMS` is as good as `sha3-256sums`.
    private static func folded(_ name: [UInt8]) -> String {
        String(String(decoding: name, as: UTF8.self).lowercased().map { $0 == "_" ? "-" : $0 })
    }

    /// Whether a list's name says that it is read as SFV.
    package static func isSFV(_ name: [UInt8]) -> Bool {
        String(decoding: name.suffix(4), as: UTF8.self).lowercased() == ".sfv"
    }

    /// What a list's or a sidecar's name says of its algorithm: `SHA256SUMS`, `a.md5`, `manifest-sha512.txt`. Of
    /// xxHash's functions, and of BLAKE2b's lengths, it may be any.
    package static func algorithm(ofListNamed name: [UInt8]) -> DigestAlgorithm? {
        let text = folded(name)
        if text.hasSuffix(".sfv") { return .crc32 }
        let list = text.without([".asc"]) ?? text
        let base = list.without([".txt"])
        return DigestAlgorithm(rawValue: list) ?? known.first { $0.isMeant(by: list, base) }?.algorithm
    }

    /// A word for an algorithm, with the names of its lists: `sha256sum`, `SHA256SUMS`, `sha256sums.txt`, `a.sha256`,
    /// `a.sha256sum`, `a-sha256.txt`; and no `sha256summary.txt`.
    private struct Word {
        let algorithm: DigestAlgorithm?
        private let sums: [String]
        private let endings: [String]
        private let textEndings: [String]

        init(_ word: String, _ algorithm: DigestAlgorithm? = nil) {
            self.algorithm = algorithm
            sums = ["", ".", "-"].flatMap { ["\(word)\($0)sum", "\(word)\($0)sums"] }
            endings = ["", "sum", "sums"].map { ".\(word)\($0)" }
            textEndings = endings + ["", "sum", "sums"].map { "-\(word)\($0)" }
        }

        /// `base`: without `.txt`, where that is its ending.
        func isMeant(by text: String, _ base: String?) -> Bool {
            let isFirst = sums.contains { sum in
                text.hasPrefix(sum) && text.dropFirst(sum.count).first.map { ".-_".contains($0) } ?? true
            }
            return isFirst || endings.contains(where: text.hasSuffix)
                || base.map { textEndings.contains(where: $0.hasSuffix) } ?? false
        }
    }

    private static let known =
        [
            Word("b2", .blake2b), Word("b3", .blake3), Word("xxh128", .xxh3), Word("xxh3", .xxh3with64),
            Word("xxh", .xxh64), Word("xxhash", .xxh64),
        ] + DigestAlgorithm.allCases.map { Word($0.rawValue, $0) }

    private static let foreign =
        [
            "sha512-256", "sha512-224", "sha512256", "sha512224", "sha3", "whirlpool",
            "tiger", "rmd160", "ripemd160", "sm3", "md4", "blake2s",
        ].map { Word($0) }
}

extension String {
    /// What stands before one of these endings; nil where it has none of them.
    fileprivate func without(_ endings: [String]) -> String? {
        endings.first { hasSuffix($0) }.map { String(dropLast($0.count)) }
    }
}
