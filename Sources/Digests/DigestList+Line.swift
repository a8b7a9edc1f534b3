extension DigestList {
    /// Reads one line of a list.
    struct LineReader {
        let algorithm: DigestAlgorithm?
        let form: Form

        /// Whether the line says nothing: empty, or a comment.
        func isSilent(_ line: ArraySlice<UInt8>) -> Bool {
            guard let first = line.first else { return true }
            switch form {
            case .bagIt: return false
            // A name comes first, which may begin with `#`.
            case .sfv: return first == UInt8(ascii: ";")
            case .digests, .digestsAndSizes: return first == UInt8(ascii: ";") || first == UInt8(ascii: "#")
            }
        }

        /// What the line says; nil where it cannot be read.
        func read(_ line: ArraySlice<UInt8>) -> Line? {
            if form == .bagIt { return bagIt(line) }
            if form == .sfv { return sfv(line) }
            let isEscaped = line.first == UInt8(ascii: "\\")
            let rest = isEscaped ? line.dropFirst() : line
            if let tagged = tagged(rest, isEscaped) { return tagged }
            let word = rest.prefix { !Self.isBlank($0) }
            guard let expected = expected(word) else { return nil }
            var path = rest[word.endIndex...]
            if path.allSatisfy(Self.isBlank) { return Line(path: nil, expected: expected) }
            // Two characters part them, the second of which tells text (a blank) from binary (a star).
            path = path.dropFirst()
            if path.first == UInt8(ascii: " ") || path.first == UInt8(ascii: "*") { path = path.dropFirst() }
            guard !path.isEmpty else { return nil }
            return Line(path: isEscaped ? Self.unescaped(path) : Array(path), expected: expected)
        }

        /// Digest, white space, path; some old tools put a star before the path.
        private func bagIt(_ line: ArraySlice<UInt8>) -> Line? {
            let word = line.prefix { !Self.isBlank($0) }
            var path = line[word.endIndex...].drop(while: Self.isBlank)
            if path.first == UInt8(ascii: "*") { path = path.dropFirst() }
            guard let digest = digest(word), !path.isEmpty else { return nil }
            return Line(path: Array(path), expected: .digest(digest))
        }

        /// `SHA256 (NAME) = HEX`
        private func tagged(_ line: ArraySlice<UInt8>, _ isEscaped: Bool) -> Line? {
            guard let open = line.firstIndex(of: UInt8(ascii: "(")), let close = line.lastIndex(of: UInt8(ascii: ")")),
                open > line.startIndex + 1, open < close, line[(close + 1)...].starts(with: " = ".utf8)
            else { return nil }
            let tag = String(decoding: line[..<(open - 1)], as: UTF8.self)
            guard let algorithm = DigestAlgorithm.allCases.first(where: { $0.tag == tag }),
                let digest = Digest(algorithm, hex: line[(close + 4)...])
            else { return nil }
            let path = line[(open + 1)..<close]
            return Line(path: isEscaped ? Self.unescaped(path) : Array(path), expected: .digest(digest))
        }

        /// `NAME CRC`; the name may hold blanks.
        private func sfv(_ line: ArraySlice<UInt8>) -> Line? {
            guard let gap = line.lastIndex(of: UInt8(ascii: " ")), let digest = Digest(.crc32, hex: line[(gap + 1)...])
            else { return nil }
            var path = line[..<gap]
            while path.last == UInt8(ascii: " ") { path.removeLast() }
            return path.isEmpty ? nil : Line(path: Array(path), expected: .digest(digest))
        }

        private func expected(_ word: ArraySlice<UInt8>) -> Expected? {
            if let digest = digest(word) { return .digest(digest) }
            guard form == .digestsAndSizes, word.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else {
                return nil
            }
            return Int64(String(decoding: word, as: UTF8.self)).map { .size($0) }
        }

        private func digest(_ hex: ArraySlice<UInt8>) -> Digest? {
            if let algorithm { return Digest(algorithm, hex: hex) }
            let usual: [DigestAlgorithm] = [.md5, .sha1, .sha256, .sha384, .sha512]
            return usual.first { $0.size * 2 == hex.count }.flatMap { Digest($0, hex: hex) }
        }

        private static func isBlank(_ byte: UInt8) -> Bool { byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }

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
}
