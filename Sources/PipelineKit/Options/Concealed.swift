/// What stands in the place of a secret, and the secrets that can be told by their form.
package enum Concealed {
    /// What is shown instead of a secret.
    package static let mark = "•••"
    /// Shorter values are found everywhere, and hide nothing.
    package static let leastBytes = 6

    /// What is not to be shown of a value that is written in a pipeline file where secrets may be: itself, its lines,
    /// and of `Bearer TOKEN` also the token.
    package static func words(of value: String) -> [String] {
        let lines = value.split(whereSeparator: \.isNewline).map { line in
            String(line.drop(while: \.isWhitespace).reversed().drop(while: \.isWhitespace).reversed())
        }
        let words = value.split(whereSeparator: \.isWhitespace)
        let token = words.count == 2 ? words.suffix(1).map(String.init) : []
        return ([value] + lines + token).filter { $0.utf8.count >= leastBytes }
    }

    /// A text as it may be shown: of each URL without who signs in, and without the values of its query.
    package static func urls(in text: String) -> String {
        String(decoding: urls(in: Array(text.utf8)).shown, as: UTF8.self)
    }

    /// The same of bytes, with what is not shown.
    package static func urls(in text: [UInt8]) -> (shown: [UInt8], hidden: [ArraySlice<UInt8>]) {
        var shown: [UInt8] = []
        var hidden: [ArraySlice<UInt8>] = []
        var done = 0
        for range in URLScan(text).found {
            shown += text[done..<range.lowerBound] + mark.utf8
            hidden.append(text[range])
            done = range.upperBound
        }
        return (shown + text[done...], hidden)
    }
}

/// Finds in a text what URLs may have of secrets. What is written `${…}` or `{…}` is taken as a whole. Passwords may
/// have any signs: only white space ends a URL.
private struct URLScan {
    /// The secrets' places, in order.
    private(set) var found: [Range<Int>] = []
    private let text: [UInt8]
    /// Where each brace is closed in its line.
    private let closing: [Int: Int]

    init(_ text: [UInt8]) {
        (self.text, closing) = (text, Self.braces(of: text))
        var (index, isURL, quote) = (0, false, nil as UInt8?)
        while index < text.count {
            if isScheme(before: index) {
                quote = text[..<index].last { !Self.mayBeScheme($0) }.flatMap { "'\"`".utf8.contains($0) ? $0 : nil }
                index = authority(from: index + 1)
                isURL = true
            } else if isURL, text[index] == UInt8(ascii: "?") {
                index = query(from: index + 1, in: quote)
                isURL = false
            } else {
                isURL = isURL && !Self.isSpace(text[index])
                index = isURL ? after(index) : index + 1
            }
        }
    }

    /// Whether a URL has its `://` there.
    private func isScheme(before index: Int) -> Bool {
        guard text[index] == UInt8(ascii: ":"), text[index...].starts(with: ":/".utf8), index > 0 else { return false }
        let last = text[index - 1]
        if text[index...].starts(with: "://".utf8) { return Self.isWord(last) || last == UInt8(ascii: "}") }
        // libcurl takes one slash for a slip, and more of them below.
        let scheme = String(decoding: text[..<index].suffix(5), as: UTF8.self).lowercased()
        return scheme == "https" || scheme.hasSuffix("https".dropLast())
    }

    /// Where it ends.
    private mutating func authority(from start: Int) -> Int {
        let begin = text[start...].firstIndex { $0 != UInt8(ascii: "/") } ?? text.count
        var (index, lastAt) = (begin, nil as Int?)
        while index < text.count, !Self.isSpace(text[index]), !"/?#".utf8.contains(text[index]),
            !isScheme(before: index)
        {
            if text[index] == UInt8(ascii: "@") { lastAt = index }
            index = after(index)
        }
        if let lastAt { found.append(begin..<lastAt) }
        return index
    }

    /// Where it ends. `quote`: what stands before the URL, and so behind it.
    private mutating func query(from begin: Int, in quote: UInt8?) -> Int {
        var (index, value, hasKey, hasSecret) = (begin, begin, false, false)
        while index < text.count, !Self.isSpace(text[index]), text[index] != UInt8(ascii: "#") {
            let isLast = index + 1 == text.count || Self.isSpace(text[index + 1])
            if isLast, text[index] == quote { break }
            switch text[index] {
            case UInt8(ascii: "&"), UInt8(ascii: ";"):
                if hasSecret { found.append(value..<index) }
                (value, hasKey, hasSecret) = (index + 1, false, false)
            case UInt8(ascii: "=") where !hasKey: (value, hasKey, hasSecret) = (index + 1, true, false)
            default: hasSecret = hasSecret || after(index) == index + 1
            }
            index = after(index)
        }
        if hasSecret { found.append(value..<index) }
        return index
    }

    /// The place behind what is there.
    private func after(_ index: Int) -> Int {
        let isReference = text[index...].starts(with: "${".utf8)
        return (closing[isReference ? index + 1 : index] ?? index) + 1
    }

    private static func braces(of text: [UInt8]) -> [Int: Int] {
        var closing: [Int: Int] = [:]
        var open: [Int] = []
        for (index, byte) in text.enumerated() {
            switch byte {
            case UInt8(ascii: "{"): open.append(index)
            case UInt8(ascii: "}"): if let begin = open.popLast() { closing[begin] = index }
            case UInt8(ascii: "\n"): open = []
            default: break
            }
        }
        return closing
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
    }

    private static func mayBeScheme(_ byte: UInt8) -> Bool { isWord(byte) || "+-.${_}".utf8.contains(byte) }
}
