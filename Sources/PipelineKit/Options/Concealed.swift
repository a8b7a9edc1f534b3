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
        var url = URLScan(text)
        var shown: [UInt8] = []
        var hidden: [ArraySlice<UInt8>] = []
        var done = 0
        while let range = url.next() {
            shown += text[done..<range.lowerBound] + mark.utf8
            hidden.append(text[range])
            done = range.upperBound
        }
        return (shown + text[done...], hidden)
    }
}

/// Finds in a text what URLs may have of secrets. What is written `${…}` or `{…}` is taken as a whole.
private struct URLScan {
    private let text: [UInt8]
    private var at = 0
    private var found: [Range<Int>] = []

    init(_ text: [UInt8]) { self.text = text }

    /// The next secret's place, in order.
    mutating func next() -> Range<Int>? {
        while found.isEmpty {
            guard let begin = authority() else { return nil }
            scan(from: begin)
        }
        return found.removeFirst()
    }

    /// Where the next `://` of a URL ends.
    private mutating func authority() -> Int? {
        while at < text.count {
            defer { at += 1 }
            guard text[at] == UInt8(ascii: ":"), text[at...].starts(with: "://".utf8), at > 0 else { continue }
            let before = text[at - 1]
            guard Self.isWord(before) || before == UInt8(ascii: "}") else { continue }
            return at + 3
        }
        return nil
    }

    private mutating func scan(from begin: Int) {
        var index = begin
        var (lastAt, isAuthority) = (nil as Int?, true)
        while index < text.count, !Self.isEnd(text[index]) {
            switch text[index] {
            case UInt8(ascii: "@") where isAuthority: lastAt = index
            case UInt8(ascii: "/"), UInt8(ascii: "#"): isAuthority = false
            case UInt8(ascii: "?"):
                if let lastAt { found.append(begin..<lastAt) }
                return query(from: index + 1)
            default: break
            }
            index = after(index)
        }
        if let lastAt { found.append(begin..<lastAt) }
        at = max(at, index)
    }

    private mutating func query(from begin: Int) {
        var (index, value, hasSecret) = (begin, begin, false)
        while index < text.count, !Self.isEnd(text[index]), text[index] != UInt8(ascii: "#") {
            switch text[index] {
            case UInt8(ascii: "&"), UInt8(ascii: ";"):
                if hasSecret { found.append(value..<index) }
                (value, hasSecret) = (index + 1, false)
            case UInt8(ascii: "=") where !text[value..<index].contains(UInt8(ascii: "=")) && isKey(value..<index):
                (value, hasSecret) = (index + 1, false)
            default: hasSecret = hasSecret || after(index) == index + 1
            }
            index = after(index)
        }
        if hasSecret { found.append(value..<index) }
        at = max(at, index)
    }

    /// Whether this is what a query calls a value, which comes after a `?` or `&`.
    private func isKey(_ range: Range<Int>) -> Bool {
        guard let before = text[..<range.lowerBound].last else { return false }
        return "?&;".utf8.contains(before)
    }

    /// The place behind what is there.
    private func after(_ index: Int) -> Int {
        let isReference = text[index...].starts(with: "${".utf8)
        guard isReference || text[index] == UInt8(ascii: "{") else { return index + 1 }
        var depth = 0
        for place in index..<text.count {
            if text[place] == UInt8(ascii: "{") { depth += 1 }
            if text[place] == UInt8(ascii: "}") { depth -= 1 }
            if depth == 0, text[place] == UInt8(ascii: "}") { return place + 1 }
            if text[place] == UInt8(ascii: "\n") { break }
        }
        return index + 1
    }

    private static func isEnd(_ byte: UInt8) -> Bool { byte <= 0x20 || byte == 0x7F || "\"'<>`".utf8.contains(byte) }

    private static func isWord(_ byte: UInt8) -> Bool {
        byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
    }
}
