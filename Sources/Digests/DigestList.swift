/// What a list of digests says: `SHA256SUMS`, `a.md5`, `files.sfv`. Pure; reads what `sha256sum`, `sha256sum --tag`,
/// BSD's tools and SFV programs write.
package struct DigestList: Sendable, Equatable {
    /// One file's digest.
    package struct Line: Sendable, Hashable {
        /// The path as it is written, without escapes; nil where the line holds a digest alone.
        package let path: [UInt8]?
        /// What the file is to have.
        package let digest: Digest
    }

    /// The files, in order.
    package private(set) var lines: [Line] = []
    /// The first line that says no digest, counted from 1.
    package private(set) var strangeLine: Int?

    /// Reads a list. `algorithm`: what the list's name says; nil where it says nothing, and the length of a digest
    /// does.
    package init(_ text: [UInt8], algorithm: DigestAlgorithm?) {
        for (number, line) in Self.lines(of: text).enumerated() {
            guard let first = line.first, !Self.comments.contains(first) else { continue }
            if let read = Self.line(line, algorithm) {
                lines.append(read)
            } else if strangeLine == nil {
                strangeLine = number + 1
            }
        }
    }

    /// What begins a line that says nothing: `#`, and `;` of SFV.
    private static let comments: Set<UInt8> = [UInt8(ascii: "#"), UInt8(ascii: ";")]
    private static let blank = UInt8(ascii: " "), tab = UInt8(ascii: "\t")

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

    /// What a list's or a sidecar's name says of its algorithm: `SHA256SUMS`, `a.md5`, `manifest-sha512.txt`.
    package static func algorithm(ofListNamed name: [UInt8]) -> DigestAlgorithm? {
        let text = String(decoding: name, as: UTF8.self).lowercased()
        if text.hasSuffix(".sfv") { return .crc32 }
        let endings: [(String, DigestAlgorithm)] = [("b2", .blake2b), ("xxh128", .xxh3)]
        for (word, algorithm) in endings + DigestAlgorithm.allCases.map({ ($0.rawValue, $0) }) {
            if text.hasSuffix(".\(word)") || text.hasPrefix("\(word)sum") || text.hasSuffix("-\(word).txt") {
                return algorithm
            }
        }
        return nil
    }

    private static func line(_ line: ArraySlice<UInt8>, _ algorithm: DigestAlgorithm?) -> Line? {
        if algorithm == .crc32 { return sfv(line) }
        let isEscaped = line.first == UInt8(ascii: "\\")
        let rest = isEscaped ? line.dropFirst() : line
        if let tagged = tagged(rest, isEscaped) { return tagged }
        let word = rest.prefix { $0 != blank && $0 != tab }
        guard let digest = digest(word, algorithm) else { return nil }
        var path = rest[word.endIndex...]
        if path.allSatisfy({ $0 == blank || $0 == tab }) { return Line(path: nil, digest: digest) }
        // Two characters part them, the second of which tells text (a blank) from binary (a star).
        path = path.dropFirst()
        if path.first == blank || path.first == UInt8(ascii: "*") { path = path.dropFirst() }
        return path.isEmpty ? nil : Line(path: isEscaped ? unescaped(path) : Array(path), digest: digest)
    }

    /// `SHA256 (NAME) = HEX`
    private static func tagged(_ line: ArraySlice<UInt8>, _ isEscaped: Bool) -> Line? {
        guard let open = line.firstIndex(of: UInt8(ascii: "(")), let close = line.lastIndex(of: UInt8(ascii: ")")),
            open > line.startIndex + 1, open < close, line[(close + 1)...].starts(with: " = ".utf8)
        else { return nil }
        let tag = String(decoding: line[..<(open - 1)], as: UTF8.self)
        guard let algorithm = DigestAlgorithm.allCases.first(where: { $0.tag == tag }),
            let digest = Digest(algorithm, hex: line[(close + 4)...])
        else { return nil }
        let path = line[(open + 1)..<close]
        return Line(path: isEscaped ? unescaped(path) : Array(path), digest: digest)
    }

    /// `NAME CRC`; the name may hold blanks.
    private static func sfv(_ line: ArraySlice<UInt8>) -> Line? {
        guard let gap = line.lastIndex(of: blank), let digest = Digest(.crc32, hex: line[(gap + 1)...]) else {
            return nil
        }
        var path = line[..<gap]
        while path.last == blank { path.removeLast() }
        return path.isEmpty ? nil : Line(path: Array(path), digest: digest)
    }

    private static func digest(_ hex: ArraySlice<UInt8>, _ algorithm: DigestAlgorithm?) -> Digest? {
        if let algorithm { return Digest(algorithm, hex: hex) }
        let usual: [DigestAlgorithm] = [.md5, .sha1, .sha256, .sha384, .sha512]
        return usual.first { $0.size * 2 == hex.count }.flatMap { Digest($0, hex: hex) }
    }

    /// What a backslash at the line's beginning announces (GNU coreutils, "md5sum invocation").
    private static func unescaped(_ path: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var isAfterBackslash = false
        for byte in path {
            if isAfterBackslash {
                isAfterBackslash = false
                bytes.append(byte == UInt8(ascii: "n") ? 0x0A : byte == UInt8(ascii: "r") ? 0x0D : byte)
            } else if byte == UInt8(ascii: "\\") {
                isAfterBackslash = true
            } else {
                bytes.append(byte)
            }
        }
        return bytes
    }
}
