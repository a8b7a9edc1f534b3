/// Writes JSON (RFC 8259) straight into bytes, in the order it is told. Text that holds controls or bidirectional
/// overrides is escaped, so that a line may be shown anywhere.
package struct JSONText {
    /// What was written so far.
    package private(set) var bytes: [UInt8]
    /// Whether a member of the innermost object or array comes before the next one.
    private var needsComma = false

    /// Nothing written yet, or a text of its own after these bytes, in their memory.
    package init(after bytes: consuming [UInt8] = []) { self.bytes = bytes }

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

    /// Bytes as text where they are UTF-8. Where they are not nothing is written, and it returns false.
    package mutating func text(_ key: String? = nil, ifUTF8 value: UnsafeBufferPointer<UInt8>) -> Bool {
        if !Self.isPlain(value), String(validating: value, as: UTF8.self) == nil { return false }
        begin(key)
        quote(value)
        return true
    }

    /// A whole number.
    @inlinable
    package mutating func integer(_ key: String? = nil, _ value: some BinaryInteger) {
        integer(key, isNegative: value < 0, magnitude: UInt64(truncatingIfNeeded: value.magnitude))
    }

    /// A whole number in its two parts.
    package mutating func integer(_ key: String?, isNegative: Bool, magnitude: UInt64) {
        begin(key)
        if isNegative { bytes.append(UInt8(ascii: "-")) }
        append(magnitude)
    }

    /// Seconds, to the microsecond.
    package mutating func seconds(_ key: String? = nil, _ value: Duration) {
        begin(key)
        let micros = UInt64(max(0, value.nanoseconds) / 1000)
        append(micros / 1_000_000)
        bytes.append(UInt8(ascii: "."))
        append(micros % 1_000_000, digits: 6)
    }

    /// `true` or `false`.
    package mutating func flag(_ key: String? = nil, _ value: Bool) {
        begin(key)
        bytes += (value ? "true" : "false").utf8
    }

    /// `null`.
    package mutating func null(_ key: String? = nil) {
        begin(key)
        bytes += "null".utf8
    }

    /// A name or path: as it is where it is UTF-8, else escaped and with the bytes beside it, as `KEY_base64`.
    package mutating func name(_ key: String, _ value: [UInt8]) {
        if value.withUnsafeBufferPointer({ text(key, ifUTF8: $0) }) { return }
        text(key, EscapedText.of(value))
        text(key + "_base64", Base64.text(of: value))
    }

    /// Names or paths, in the same way: where any is not UTF-8, the bytes of all are in `KEY_base64`.
    package mutating func names(_ key: String, _ values: [[UInt8]]) {
        var isText = true
        array(key) { json in
            for value in values where !value.withUnsafeBufferPointer({ json.text(ifUTF8: $0) }) {
                isText = false
                json.text(nil, EscapedText.of(value))
            }
        }
        guard !isText else { return }
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

    private mutating func append(_ number: UInt64, digits: Int = 1) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 20) { buffer in
            var place = buffer.count
            var rest = number
            repeat {
                place -= 1
                buffer[place] = UInt8(ascii: "0") + UInt8(rest % 10)
                rest /= 10
            } while rest > 0 || buffer.count - place < digits
            bytes += buffer[place...]
        }
    }

    private mutating func quote(_ text: String) {
        var text = text
        text.withUTF8 { quote($0) }
    }

    private mutating func quote(_ text: UnsafeBufferPointer<UInt8>) {
        bytes.append(UInt8(ascii: "\""))
        if Self.isPlain(text) { bytes += text } else { escape(text) }
        bytes.append(UInt8(ascii: "\""))
    }

    /// Whether nothing of it needs a second look. Every byte is looked at, without a way out on the way, so that
    /// many are compared at once: texts are short, and nearly all are plain.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        var odd: UInt8 = 0
        for byte in text {
            odd |= byte &- 0x20 < 0x5F && byte != UInt8(ascii: "\"") && byte != UInt8(ascii: "\\") ? 0 : 1
        }
        return odd == 0
    }

    /// Runs of bytes that stand for themselves are copied as they are.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var begin = 0
        var place = 0
        while place < text.count {
            guard let (length, escaped) = Self.escape(text[place...]) else {
                place += 1
                continue
            }
            bytes += text[begin..<place]
            bytes += escaped.utf8
            place += length
            begin = place
        }
        bytes += text[begin...]
    }

    /// The escape of what valid UTF-8 begins with, and how many bytes it stands for; nil where it needs none.
    private static func escape(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> (length: Int, escaped: String)? {
        switch text[text.startIndex] {
        case 0x22: return (1, "\\\"")
        case 0x5C: return (1, "\\\\")
        case 0x0A: return (1, "\\n")
        case 0x09: return (1, "\\t")
        case 0x0D: return (1, "\\r")
        case 0..<0x20, 0x7F, 0xC2, 0xD8, 0xE2: break
        default: return nil
        }
        guard let scalar = String(decoding: text.prefix(3), as: UTF8.self).unicodeScalars.first else { return nil }
        if EscapedText.isHarmless(scalar) { return nil }
        let digits = String(scalar.value, radix: 16)
        return (UTF8.width(scalar), "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
    }
}
