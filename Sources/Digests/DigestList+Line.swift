extension DigestList {
    struct LineReader {
        let algorithm: DigestAlgorithm?
        let form: Form

        /// Whether its lines may end with a NUL.
        var mayBeRaw: Bool { form == .digests || form == .digestsAndSizes }

        /// Whether a PGP signature may be around it.
        var isFramed: Bool { form != .bagIt && form != .bagItFetch }

        /// Whether the line says nothing: empty, or a comment.
        func isSilent(_ line: ArraySlice<UInt8>) -> Bool {
            guard let first = line.first else { return true }
            switch form {
            case .bagIt, .bagItFetch: return false
            // A name comes first, which may begin with `#`.
            case .sfv: return first == UInt8(ascii: ";")
            case .digests, .digestsAndSizes: return first == UInt8(ascii: ";") || first == UInt8(ascii: "#")
            }
        }

        /// What the line says; nil where it cannot be read. `isRaw`: lines end with a NUL, and so escape nothing.
        func read(_ line: ArraySlice<UInt8>, isRaw: Bool = false) -> Line? {
            if form == .bagIt { return bagIt(line) }
            if form == .bagItFetch { return fetched(line) }
            if form == .sfv { return sfv(line) }
            let isEscaped = !isRaw && line.first == UInt8(ascii: "\\")
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
            let name = isEscaped ? Self.unescaped(path) : Array(path)
            // What came through standard input has no name.
            return Line(path: name == [UInt8(ascii: "-")] ? nil : name, expected: expected)
        }

        /// Digest, white space, path; some old tools put a star before the path.
        private func bagIt(_ line: ArraySlice<UInt8>) -> Line? {
            let word = line.prefix { !Self.isBlank($0) }
            var path = line[word.endIndex...].drop(while: Self.isBlank)
            let isMarked = path.first == UInt8(ascii: "*")
            if isMarked { path = path.dropFirst() }
            guard let digest = digest(word), !path.isEmpty else { return nil }
            return Line(path: Array(path), expected: .digest(digest), isMarked: isMarked)
        }

        /// Where a file was to be fetched from says nothing here.
        private func fetched(_ line: ArraySlice<UInt8>) -> Line? {
            let url = line.prefix { !Self.isBlank($0) }
            let rest = line[url.endIndex...].drop(while: Self.isBlank)
            let size = rest.prefix { !Self.isBlank($0) }
            let path = rest[size.endIndex...].drop(while: Self.isBlank)
            guard !url.isEmpty, !path.isEmpty else { return nil }
            if size.elementsEqual("-".utf8) { return Line(path: Array(path), expected: .anything) }
            return number(size).map { Line(path: Array(path), expected: .size($0)) }
        }

        private func number(_ word: ArraySlice<UInt8>) -> Int64? {
            guard word.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
            return Int64(String(decoding: word, as: UTF8.self))
        }

        /// `SHA256 (NAME) = HEX`, and `SHA2-256(NAME)= HEX` of OpenSSL, where `(stdin)` is what has no name.
        private func tagged(_ line: ArraySlice<UInt8>, _ isEscaped: Bool) -> Line? {
            guard let open = line.firstIndex(of: UInt8(ascii: "(")), let close = line.lastIndex(of: UInt8(ascii: ")")),
                open < close
            else { return nil }
            var hex = line[(close + 1)...]
            let tag = line[..<open]
            let isOpenSSL = tag.last != UInt8(ascii: " ")
            let equals = isOpenSSL ? "= " : " = "
            guard hex.starts(with: equals.utf8) else { return nil }
            hex = hex.dropFirst(equals.utf8.count)
            let name = isEscaped ? Self.unescaped(line[(open + 1)..<close]) : Array(line[(open + 1)..<close])
            let isInput = name.elementsEqual("stdin".utf8)
            // OpenSSL names the function of standard input since 3.0 only.
            if tag.isEmpty { return isInput ? digest(hex).map { Line(path: nil, expected: .digest($0)) } : nil }
            let word = String(decoding: isOpenSSL ? tag : tag.dropLast(), as: UTF8.self)
            guard let algorithm = DigestAlgorithm(spelled: word), let digest = Digest(algorithm, hex: hex) else {
                return nil
            }
            let isNameless = isInput && (isOpenSSL || algorithm.isXXHash)
            return Line(path: isNameless ? nil : name, expected: .digest(digest))
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
            return form == .digestsAndSizes ? number(word).map { .size($0) } : nil
        }

        private func digest(_ word: ArraySlice<UInt8>) -> Digest? {
            let mark = DigestAlgorithm.xxh3with64.prefix.utf8
            if word.starts(with: mark) { return Digest(.xxh3with64, hex: word.dropFirst(mark.count)) }
            let length = word.count / 2
            switch algorithm {
            case .blake2b where 1...64 ~= length: return Digest(.blake2b(size: length), hex: word)
            // Its lists are called alike, and the length tells.
            case let one? where one.isXXHash && one.size != length:
                return [.xxh3, .xxh64, .xxh32].first { $0.size == length }.flatMap { Digest($0, hex: word) }
            case let one?: return Digest(one, hex: word)
            case nil:
                let usual: [DigestAlgorithm] = [.md5, .sha1, .sha224, .sha256, .sha384, .sha512]
                return usual.first { $0.size == length }.flatMap { Digest($0, hex: word) }
            }
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
