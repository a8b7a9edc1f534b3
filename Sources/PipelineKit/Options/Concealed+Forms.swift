import Files

extension Concealed {
    /// A text that may be anything, fit to be quoted: what looks like a secret is masked. `hidden`: the masked parts.
    package static func forms(in text: String) -> (shown: String, hidden: [String]) {
        var found = urlSecrets(in: Array(text.utf8))
        if let line = FormScan(Array(text.utf8)).found { found.append(line) }
        let bytes = Array(text.utf8)
        var shown: [UInt8] = []
        var hidden: [String] = []
        var done = 0
        for range in found.sorted(by: { $0.lowerBound < $1.lowerBound }) where range.upperBound > done {
            let range = max(done, range.lowerBound)..<range.upperBound
            if range.isEmpty { continue }
            shown += bytes[done..<range.lowerBound] + mark.utf8
            hidden.append(String(decoding: bytes[range], as: UTF8.self))
            done = range.upperBound
        }
        return (String(decoding: shown + bytes[done...], as: UTF8.self), hidden)
    }

    /// A message about a text that may have quoted it, or pieces of it: without what may be a secret. `isSecret`: the
    /// text stands where secrets are.
    package static func message(_ message: String, about text: String, isSecret: Bool = false) -> String {
        let (shown, hidden) = forms(in: text)
        guard !text.isEmpty, isSecret || !hidden.isEmpty else { return message }
        var message = message
        func replace(_ secret: String, by other: String) {
            for form in [secret, EscapedText.of(secret), EscapedText.printable(secret)] {
                message = message.split(separator: form, omittingEmptySubsequences: false).joined(separator: other)
            }
        }
        if !isSecret || text.utf8.count >= leastQuoted { replace(text, by: isSecret ? mark : shown) }
        // Some messages quote a part of it.
        let words = hidden.flatMap { [$0] + $0.split { $0.isWhitespace || "/,;:".contains($0) }.map(String.init) }
        for word in words.sorted(by: { $0.utf8.count > $1.utf8.count }) where word.utf8.count >= leastQuoted {
            replace(word, by: mark)
        }
        return message
    }

    /// Shorter ones are also parts of other words.
    private static let leastQuoted = 4
}

/// Finds the first header line, variable assignment or user name with a password in a text.
private struct FormScan {
    /// From the first of it to the end.
    private(set) var found: Range<Int>?
    private let text: [UInt8]

    init(_ text: [UInt8]) {
        self.text = text
        var index = 0
        while index < text.count {
            let word = text[index...].prefix(while: Self.isName)
            if word.isEmpty {
                index += 1
            } else if let begin = value(behind: word) {
                found = begin..<text.count
                return
            } else {
                index = word.endIndex
            }
        }
        // Somebody's name and password without a scheme before them.
        if let at = text.lastIndex(of: UInt8(ascii: "@")), text[..<at].contains(UInt8(ascii: ":")),
            !text.starts(with: "://".utf8), !String(decoding: text, as: UTF8.self).contains("://")
        {
            found = 0..<at
        }
    }

    /// Where what the word names begins; nil where it names nothing.
    private func value(behind word: ArraySlice<UInt8>) -> Int? {
        let end = word.endIndex
        guard end < text.count else { return nil }
        let name = String(decoding: word, as: UTF8.self).lowercased()
        let rest = text[(end + 1)...]
        let begin = rest.firstIndex { !Self.isSpace($0) }
        switch text[end] {
        case UInt8(ascii: "="):
            // Signs that fill up a Base64 text belong to it.
            return begin.map { begin in rest[begin...].allSatisfy { $0 == UInt8(ascii: "=") } ? word.startIndex : begin
            }
        case UInt8(ascii: ":"):
            guard let begin, !rest.starts(with: "//".utf8) else { return nil }
            return begin > end + 1 || Concealed.namesSecret(name) ? begin : nil
        default: return Self.isSpace(text[end]) && Concealed.schemes.contains(name) ? begin : nil
        }
    }

    private static func isName(_ byte: UInt8) -> Bool {
        byte < 0x80 && (Character(Unicode.Scalar(byte)).isLetter || Character(Unicode.Scalar(byte)).isNumber)
            || "_-.".utf8.contains(byte)
    }

    private static func isSpace(_ byte: UInt8) -> Bool { byte == 0x20 || (0x09...0x0D).contains(byte) }
}
