/// Makes untrusted bytes safe to print: names may contain newlines, terminal controls or bytes that are not UTF-8.
package enum EscapedText {
    /// The bytes as text. What is not valid UTF-8, or is obeyed rather than shown (`isHarmless`), becomes `\xNN`,
    /// newline and tab `\n` and `\t`, a backslash `\\`.
    package static func of(_ bytes: some Collection<UInt8>) -> String {
        if bytes.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\\") }) {
            return String(decoding: bytes, as: UTF8.self)
        }
        var text = ""
        var iterator = bytes.makeIterator()
        var decoder = UTF8Scalars()
        while let piece = decoder.next(from: &iterator) {
            switch piece {
            case .scalar(let scalar): append(scalar, to: &text)
            case .invalid(let invalid): for byte in invalid { text += hexadecimal(byte) }
            }
        }
        return text
    }

    /// The text with the same escapes.
    package static func of(_ text: String) -> String { of(text.utf8) }

    /// Whether a letter is shown as it is. Controls (C0, DEL, C1), line and paragraph separators and all that changes
    /// the direction of text can make a name read as another one (Unicode TR 36).
    package static func isHarmless(_ scalar: Unicode.Scalar) -> Bool {
        switch scalar.value {
        case 0..<0x20, 0x7F...0x9F, 0x61C, 0x200E...0x200F, 0x2028...0x202E, 0x2066...0x2069: false
        default: true
        }
    }

    /// Text that is meant to be shown (a message, with names already escaped in it), with nothing escaped but what is
    /// not harmless: the last step before a terminal.
    package static func printable(_ text: String) -> String {
        if text.unicodeScalars.allSatisfy(isHarmless) { return text }
        return text.unicodeScalars.map { isHarmless($0) ? String($0) : of(String($0)) }.joined()
    }

    private static func append(_ scalar: Unicode.Scalar, to text: inout String) {
        switch scalar {
        case "\n": text += "\\n"
        case "\t": text += "\\t"
        case "\\": text += "\\\\"
        default:
            if isHarmless(scalar) {
                text.unicodeScalars.append(scalar)
            } else {
                for byte in UTF8.encode(scalar).map(Array.init) ?? [] { text += hexadecimal(byte) }
            }
        }
    }

    private static func hexadecimal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 16, uppercase: true)
        return "\\x" + (digits.count < 2 ? "0" : "") + digits
    }
}

/// Splits bytes into Unicode scalars and runs that are none.
private struct UTF8Scalars {
    enum Piece {
        case scalar(Unicode.Scalar)
        case invalid([UInt8])
    }

    private var pending: [UInt8] = []

    mutating func next(from iterator: inout some IteratorProtocol<UInt8>) -> Piece? {
        if pending.isEmpty {
            guard let byte = iterator.next() else { return nil }
            pending.append(byte)
        }
        let length = Self.length(of: pending[0])
        while pending.count < length {
            guard let byte = iterator.next() else { break }
            pending.append(byte)
            if byte & 0xC0 != 0x80 { break }
        }
        if pending.count >= length, let text = String(validating: pending[..<length], as: UTF8.self),
            let scalar = text.unicodeScalars.first
        {
            pending.removeFirst(length)
            return .scalar(scalar)
        }
        return .invalid([pending.removeFirst()])
    }

    private static func length(of lead: UInt8) -> Int {
        switch lead {
        case 0xC2...0xDF: 2
        case 0xE0...0xEF: 3
        case 0xF0...0xF4: 4
        default: 1
        }
    }
}
