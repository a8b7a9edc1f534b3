/// Writes JSON (RFC 8259) straight into bytes, in the order it is told. Text that holds controls or bidirectional
/// overrides is escaped, so that a line may be shown anywhere.
package struct JSONText {
    /// What was written so far.
    package private(set) var bytes: [UInt8] = []
    /// Whether a member of the innermost object or array comes before the next one.
    private var needsComma = false

    /// Nothing written yet.
    package init() {}

    /// `{…}` as the value of a key, or as a member of an array.
    package mutating func object(_ key: String? = nil, _ members: (inout JSONText) -> Void) {
        nested(key, UInt8(ascii: "{"), UInt8(ascii: "}"), members)
    }

    /// `[…]`
    package mutating func array(_ key: String? = nil, _ members: (inout JSONText) -> Void) {
        nested(key, UInt8(ascii: "["), UInt8(ascii: "]"), members)
    }

    /// A text.
    package mutating func text(_ key: String? = nil, _ value: String) {
        begin(key)
        quote(value)
    }

    /// A whole number.
    package mutating func integer(_ key: String? = nil, _ value: some BinaryInteger) {
        begin(key)
        bytes += String(value).utf8
    }

    /// Seconds, to the microsecond.
    package mutating func seconds(_ key: String? = nil, _ value: Duration) {
        begin(key)
        let micros = max(0, value.nanoseconds) / 1000
        bytes += String(micros / 1_000_000).utf8
        let digits = String(micros % 1_000_000)
        bytes.append(UInt8(ascii: "."))
        bytes += repeatElement(UInt8(ascii: "0"), count: 6 - digits.utf8.count)
        bytes += digits.utf8
    }

    /// `true` or `false`.
    package mutating func flag(_ key: String? = nil, _ value: Bool) {
        begin(key)
        bytes += (value ? "true" : "false").utf8
    }

    /// A name or path: as it is where it is UTF-8, else escaped and with the bytes beside it, as `KEY_base64`.
    package mutating func name(_ key: String, _ value: [UInt8]) {
        if let text = String(validating: value, as: UTF8.self) {
            self.text(key, text)
        } else {
            text(key, EscapedText.of(value))
            text(key + "_base64", Base64.text(of: value))
        }
    }

    /// Names or paths, in the same way: where any is not UTF-8, the bytes of all are in `KEY_base64`.
    package mutating func names(_ key: String, _ values: [[UInt8]]) {
        array(key) { json in
            for value in values { json.text(nil, String(validating: value, as: UTF8.self) ?? EscapedText.of(value)) }
        }
        guard values.contains(where: { String(validating: $0, as: UTF8.self) == nil }) else { return }
        array(key + "_base64") { json in
            for value in values { json.text(nil, Base64.text(of: value)) }
        }
    }

    /// The end of a line.
    package mutating func newline() {
        bytes.append(UInt8(ascii: "\n"))
        needsComma = false
    }

    /// All of it as text.
    package var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Members of an object alone, without its braces.
    package static func members(_ write: (inout JSONText) -> Void) -> [UInt8] {
        var json = JSONText()
        write(&json)
        return json.bytes
    }

    private mutating func nested(_ key: String?, _ open: UInt8, _ close: UInt8, _ members: (inout JSONText) -> Void) {
        begin(key)
        bytes.append(open)
        needsComma = false
        members(&self)
        bytes.append(close)
        needsComma = true
    }

    private mutating func begin(_ key: String?) {
        if needsComma { bytes.append(UInt8(ascii: ",")) }
        needsComma = true
        guard let key else { return }
        quote(key)
        bytes.append(UInt8(ascii: ":"))
    }

    private mutating func quote(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        if text.utf8.allSatisfy({ $0 >= 0x20 && $0 < 0x7F && $0 != UInt8(ascii: "\"") && $0 != UInt8(ascii: "\\") }) {
            bytes += text.utf8
        } else {
            for scalar in text.unicodeScalars { escape(scalar) }
        }
        bytes.append(UInt8(ascii: "\""))
    }

    private mutating func escape(_ scalar: Unicode.Scalar) {
        switch scalar.value {
        case 0x22: bytes += "\\\"".utf8
        case 0x5C: bytes += "\\\\".utf8
        case 0x0A: bytes += "\\n".utf8
        case 0x09: bytes += "\\t".utf8
        case 0x0D: bytes += "\\r".utf8
        // Controls, and what reorders or breaks lines: line separators, overrides, isolates.
        case 0..<0x20, 0x7F...0x9F, 0x2028...0x202E, 0x2066...0x2069:
            let digits = String(scalar.value, radix: 16)
            bytes += "\\u".utf8
            bytes += repeatElement(UInt8(ascii: "0"), count: 4 - digits.utf8.count)
            bytes += digits.utf8
        default: bytes += UTF8.encode(scalar).map(Array.init) ?? []
        }
    }
}

/// Bytes as text of 64 characters (RFC 4648, section 4).
package enum Base64 {
    private static let alphabet = Array("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8)

    /// The text, padded.
    package static func text(of bytes: [UInt8]) -> String {
        var text: [UInt8] = []
        for start in stride(from: 0, to: bytes.count, by: 3) {
            let group = bytes[start..<min(start + 3, bytes.count)]
            let value = group.reduce(0) { $0 << 8 | Int($1) } << (8 * (3 - group.count))
            for place in 0...3 {
                text.append(place <= group.count ? alphabet[value >> (18 - 6 * place) & 63] : UInt8(ascii: "="))
            }
        }
        return String(decoding: text, as: UTF8.self)
    }
}
