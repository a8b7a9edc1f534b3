import Digests
import PipelineKit
import SystemPackage

/// What a list of digests or sizes says: `SHA256SUMS`, `a.md5`, a BagIt manifest, or the content of a marker. Pure.
struct ChecksumList: Sendable, Equatable {
    /// What a file has to be like.
    enum Expected: Sendable, Hashable {
        case size(Int64)
        case digest(DigestAlgorithm, hex: String)
    }

    /// One line.
    struct Line: Sendable, Hashable {
        /// The path that it names; nil where it names none.
        let path: [UInt8]?
        let expected: Expected
    }

    private(set) var lines: [Line] = []
    /// The first line that is no such line, counted from 1.
    private(set) var strangeLine: Int?

    /// Reads a text. Empty lines and those that begin with `#` say nothing. `isBagIt`: paths are percent-encoded in the
    /// way of RFC 8493 (2.1.3).
    init(_ text: [UInt8], isBagIt: Bool = false) {
        let parts = text.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        for (number, part) in parts.enumerated() {
            let line = part.last == UInt8(ascii: "\r") ? part.dropLast() : part
            if line.isEmpty || line.first == UInt8(ascii: "#") { continue }
            if let read = Self.line(line, isBagIt) {
                lines.append(read)
            } else if strangeLine == nil {
                strangeLine = number + 1
            }
        }
    }

    private static func line(_ line: ArraySlice<UInt8>, _ isBagIt: Bool) -> Line? {
        if let tagged = tagged(line) { return tagged }
        let isEscaped = line.first == UInt8(ascii: "\\")
        let rest = isEscaped ? line.dropFirst() : line
        let word = rest.prefix { $0 != UInt8(ascii: " ") && $0 != UInt8(ascii: "\t") }
        guard let expected = expected(String(decoding: word, as: UTF8.self)) else { return nil }
        var path = rest[word.endIndex...]
        if path.allSatisfy({ $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) {
            return Line(path: nil, expected: expected)
        }
        // Two characters, the second of which tells text from binary; BagIt has white space of any length.
        path = path.dropFirst()
        if isBagIt || path.first != UInt8(ascii: "*") {
            path = isBagIt ? path.drop { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") } : path.dropFirst()
        } else {
            path = path.dropFirst()
        }
        guard !path.isEmpty else { return nil }
        return Line(
            path: isBagIt ? percentDecoded(path) : isEscaped ? unescaped(path) : Array(path), expected: expected)
    }

    /// `SHA256 (NAME) = HEX`, as `sha256sum --tag` and BSD write it.
    private static func tagged(_ line: ArraySlice<UInt8>) -> Line? {
        guard let open = line.firstIndex(of: UInt8(ascii: "(")), let close = line.lastIndex(of: UInt8(ascii: ")")),
            open > line.startIndex, open < close, line[(close + 1)...].starts(with: " = ".utf8)
        else { return nil }
        let name = String(decoding: line[..<(open - 1)], as: UTF8.self).lowercased()
        let hex = String(decoding: line[(close + 4)...], as: UTF8.self)
        guard let algorithm = DigestAlgorithm(rawValue: name), case .digest(algorithm, let hex) = expected(hex) else {
            return nil
        }
        return Line(path: Array(line[(open + 1)..<close]), expected: .digest(algorithm, hex: hex))
    }

    /// A digest tells its algorithm by its length; a shorter number is a size.
    private static func expected(_ word: String) -> Expected? {
        let lengths: [Int: DigestAlgorithm] = [32: .md5, 40: .sha1, 64: .sha256, 96: .sha384, 128: .sha512]
        let isHex = word.utf8.allSatisfy {
            UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0 | 0x20
        }
        if isHex, let algorithm = lengths[word.utf8.count] { return .digest(algorithm, hex: word.lowercased()) }
        guard word.utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }) else { return nil }
        return Int64(word).map { .size($0) }
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

    private static func percentDecoded(_ path: ArraySlice<UInt8>) -> [UInt8] {
        var bytes: [UInt8] = []
        var rest = path
        while let byte = rest.popFirst() {
            // Only these three are encoded; others stand for themselves.
            let code = String(decoding: rest.prefix(2), as: UTF8.self).uppercased()
            guard byte == UInt8(ascii: "%"), let decoded = ["0A": 0x0A, "0D": 0x0D, "25": 0x25][code] as UInt8? else {
                bytes.append(byte)
                continue
            }
            bytes.append(decoded)
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}
