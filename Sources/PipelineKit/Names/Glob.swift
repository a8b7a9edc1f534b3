package import Files
import Glibc

/// A shell pattern on one name: `*`, `?`, `[a-z]` as fnmatch(3) has them, and `{a,b}` as shells have it. Case counts; a
/// leading dot is matched like any byte, since hidden names are left out elsewhere.
package struct Glob: Hashable, Sendable {
    /// The pattern as it was written.
    package let pattern: String
    /// What it stands for once its braces are written out.
    let alternatives: [String]

    /// A pattern whose braces close, and that is neither too long nor stands for too many; else nil.
    package init?(_ pattern: String) {
        guard !pattern.isEmpty, pattern.utf8.count <= Self.longest,
            pattern.utf8.count(where: { $0 == UInt8(ascii: "{") }) <= Self.mostBraces,
            let alternatives = Self.expand(Array(pattern))
        else { return nil }
        self.pattern = pattern
        self.alternatives = alternatives
    }

    private init(everything: String) {
        pattern = everything
        alternatives = [everything]
    }

    /// `*`
    package static let everything = Glob(everything: "*")

    /// Whether the whole name matches.
    package func matches(_ name: FileName) -> Bool {
        if alternatives == ["*"] { return true }
        return name.withCString { pointer in
            alternatives.contains { fnmatch($0, pointer, 0) == 0 }
        }
    }

    /// Whether all of a text matches, be it a path: `*` matches `/` too. A text with a NUL matches nothing.
    package func matches(_ bytes: [UInt8]) -> Bool {
        guard !bytes.contains(0) else { return false }
        let text = bytes.map { CChar(bitPattern: $0) } + [0]
        return alternatives.contains { fnmatch($0, text, 0) == 0 }
    }

    /// Whether a `[` opens a class that nothing closes: fnmatch(3) takes such a one for the sign itself.
    package var hasOpenClass: Bool { alternatives.contains { Self.hasOpenClass(Array($0.utf8)) } }

    private static func hasOpenClass(_ pattern: [UInt8]) -> Bool {
        var index = 0
        while index < pattern.count {
            switch pattern[index] {
            case UInt8(ascii: "\\"): index += 2
            case UInt8(ascii: "["):
                guard let end = endOfClass(pattern, from: index + 1) else { return true }
                index = end
            default: index += 1
            }
        }
        return false
    }

    /// The place behind the `]` of a class; the first sign in it may be one, too, and it may have `[:alpha:]`.
    private static func endOfClass(_ pattern: [UInt8], from begin: Int) -> Int? {
        var index = begin
        if index < pattern.count, "!^".utf8.contains(pattern[index]) { index += 1 }
        let first = index
        while index < pattern.count {
            let sign = pattern[index]
            if sign == UInt8(ascii: "]"), index > first { return index + 1 }
            if sign == UInt8(ascii: "\\") {
                index += 2
            } else if sign == UInt8(ascii: "["), index + 1 < pattern.count, ":.=".utf8.contains(pattern[index + 1]) {
                let kind = pattern[index + 1]
                let end = (index + 2..<max(index + 2, pattern.count - 1)).first {
                    pattern[$0] == kind && pattern[$0 + 1] == UInt8(ascii: "]")
                }
                index = end.map { $0 + 2 } ?? index + 1
            } else {
                index += 1
            }
        }
        return nil
    }

    /// The most patterns that one with braces may stand for. With each, a match takes steps by the length of the
    /// pattern times that of the name: fnmatch(3) goes back to its last `*` only.
    private static let mostAlternatives = 1000
    /// The most bytes of a pattern: as many as a path has (PATH_MAX).
    private static let longest = 4096
    /// The most braces: each is a level of `expand`.
    private static let mostBraces = 100

    /// The patterns that one with braces stands for; nil where a brace is not closed, or too many come out.
    private static func expand(_ pattern: [Character]) -> [String]? {
        guard let open = pattern.firstIndex(of: "{") else { return [String(pattern)] }
        var depth = 0
        var parts: [[Character]] = [[]]
        for index in pattern[open...].indices {
            let character = pattern[index]
            switch character {
            case "{":
                depth += 1
                if depth > 1 { parts[parts.count - 1].append(character) }
            case "}":
                depth -= 1
                guard depth == 0 else {
                    parts[parts.count - 1].append(character)
                    continue
                }
                let head = Array(pattern[..<open])
                let tail = Array(pattern[(index + 1)...])
                var all: [String] = []
                for part in parts {
                    guard let expanded = expand(head + part + tail) else { return nil }
                    all += expanded
                    if all.count > mostAlternatives { return nil }
                }
                return all
            case "," where depth == 1: parts.append([])
            default: parts[parts.count - 1].append(character)
            }
        }
        return nil
    }
}
