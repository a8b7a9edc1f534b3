/// Finds in a text what URLs may have of secrets. What is written `${…}` or `{…}` is taken as a whole, unless it has a
/// value of its own, as `${VAR:-…}` has. Passwords may have any signs, also some that a URL must not have.
struct URLScan {
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
            } else if isURL, text[index] == UInt8(ascii: "?") || text[index] == UInt8(ascii: "#") {
                let isFragment = text[index] == UInt8(ascii: "#")
                index = query(from: index + 1, in: quote)
                isURL = !isFragment && index < text.count && text[index] == UInt8(ascii: "#")
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
        var (index, lastAt, colon) = (begin, nil as Int?, nil as Int?)
        while index < text.count, !Self.isSpace(text[index]), !"/?#".utf8.contains(text[index]),
            !isScheme(before: index)
        {
            if text[index] == UInt8(ascii: "@") { (lastAt, colon) = (index, nil) }
            if let own = defaultColon(index) { index = own + 1 }
            if text[index] == UInt8(ascii: ":"), colon == nil { colon = index }
            index = after(index, orWithin: true)
        }
        // What a URL must not have as it is may be in a password nevertheless.
        let hasPort = colon.map { isPort($0 + 1..<index) } ?? true
        if index < text.count, Self.isSpace(text[index]) || !hasPort, let at = lateAt(from: index),
            text[begin..<at].contains(UInt8(ascii: ":"))
        {
            (lastAt, index) = (at, at + 1)
        } else if let colon, !hasPort {
            found.append((lastAt == nil ? colon + 1 : begin)..<(lastAt ?? index))
            return index
        }
        if let lastAt { found.append(begin..<lastAt) }
        return index
    }

    /// Whether that is a port, or stands for one; or an address in brackets is there.
    private func isPort(_ range: Range<Int>) -> Bool {
        text[range].allSatisfy { (0x30...0x39).contains($0) || "'\"`,;.)]".utf8.contains($0) }
            || text[range].contains(UInt8(ascii: "]")) || "${".utf8.contains(text[range].first ?? 0)
    }

    /// The last `@` of the line that may belong to a URL which a sign has ended: before the next URL, and before its
    /// path if it was a space.
    private func lateAt(from begin: Int) -> Int? {
        let isSpace = Self.isSpace(text[begin])
        var (index, found) = (begin, nil as Int?)
        while index < text.count, text[index] != 0x0A, text[index] != 0x0D, !isScheme(before: index) {
            if isSpace ? "/?#".utf8.contains(text[index]) : Self.isSpace(text[index]) { break }
            if text[index] == UInt8(ascii: "@") { found = index }
            index += 1
        }
        return found
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
            default: hasSecret = hasSecret || after(index) == index + 1 || defaultColon(index) != nil
            }
            index = after(index)
        }
        if hasSecret { found.append(value..<index) }
        return index
    }

    /// The place behind what is there. `orWithin`: of a reference with a value of its own, and of `{…}`, that in it.
    private func after(_ index: Int, orWithin: Bool = false) -> Int {
        if orWithin, text[index] == UInt8(ascii: "{") || defaultColon(index) != nil { return index + 1 }
        let isReference = text[index...].starts(with: "${".utf8)
        return (closing[isReference ? index + 1 : index] ?? index) + 1
    }

    /// Where the colon is of a `${VAR:-…}` with something that stands in for the variable.
    private func defaultColon(_ index: Int) -> Int? {
        guard text[index...].starts(with: "${".utf8), let close = closing[index + 1],
            let colon = text[index + 2..<close].firstIndex(where: { !Self.isWord($0) && $0 != UInt8(ascii: "_") })
        else { return nil }
        return text[colon...].starts(with: ":-".utf8) && colon + 2 < close ? colon : nil
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
