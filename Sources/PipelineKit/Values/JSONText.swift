import Files

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

    /// A key, and as its value what the body writes.
    package mutating func value(_ key: String, _ write: (inout JSONText) -> Void) {
        begin(key)
        needsComma = false
        write(&self)
    }

    /// A text.
    package mutating func text(_ key: String? = nil, _ value: String) {
        var value = value
        value.withUTF8 { member(key, text: $0) }
    }

    /// Bytes as text where they are UTF-8. Where they are not nothing is written, and it returns false.
    package mutating func text(_ key: String? = nil, ifUTF8 value: UnsafeBufferPointer<UInt8>) -> Bool {
        if !Self.isPlain(value), String(validating: value, as: UTF8.self) == nil { return false }
        member(key, text: value)
        return true
    }

    /// A whole number.
    package mutating func integer(_ key: String? = nil, _ value: Int64) {
        integer(key, isNegative: value < 0, magnitude: value.magnitude)
    }

    /// The same.
    package mutating func integer(_ key: String? = nil, _ value: Int) { integer(key, Int64(value)) }

    /// The same.
    package mutating func integer(_ key: String? = nil, _ value: UInt64) {
        integer(key, isNegative: false, magnitude: value)
    }

    private mutating func integer(_ key: String?, isNegative: Bool, magnitude: UInt64) {
        Self.withDigits(of: magnitude, isNegative: isNegative) { member(key, word: $0) }
    }

    /// Seconds, to the microsecond.
    package mutating func seconds(_ key: String? = nil, _ value: Duration) {
        let micros = UInt64(max(0, value.nanoseconds) / 1000)
        integer(key, isNegative: false, magnitude: micros / 1_000_000)
        bytes.append(UInt8(ascii: "."))
        Self.withDigits(of: micros % 1_000_000, atLeast: 6) { bytes += $0 }
    }

    /// `true` or `false`.
    package mutating func flag(_ key: String? = nil, _ value: Bool) {
        member(key, word: value ? "true" : "false")
    }

    /// `null`.
    package mutating func null(_ key: String? = nil) {
        member(key, word: "null")
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

    private mutating func begin(_ key: String?) { member(key, word: "") }

    private mutating func member(_ key: String?, word: StaticString) {
        word.withUTF8Buffer { member(key, word: $0) }
    }

    private mutating func member(_ key: String?, word: UnsafeBufferPointer<UInt8>) {
        member(key) { key, json in json.put(key, word, mark: nil) }
    }

    private mutating func member(_ key: String?, text: UnsafeBufferPointer<UInt8>) {
        member(key) { key, json in
            if Self.isPlain(text) { return json.put(key, text, mark: quote) }
            json.put(key, Self.nothing, mark: nil)
            json.bytes.append(quote)
            json.escape(text)
            json.bytes.append(quote)
        }
    }

    private mutating func member(
        _ key: String?, _ put: (UnsafeBufferPointer<UInt8>?, inout JSONText) -> Void
    ) {
        guard var key else { return put(nil, &self) }
        key.withUTF8 { key in
            if Self.isPlain(key) { return put(key, &self) }
            var escaped = JSONText()
            escaped.escape(key)
            escaped.bytes.withUnsafeBufferPointer { put($0, &self) }
        }
    }

    /// Comma, key and value in one piece: most of what is written are short members, and each piece costs more than
    /// its bytes.
    private mutating func put(_ key: UnsafeBufferPointer<UInt8>?, _ value: UnsafeBufferPointer<UInt8>, mark: UInt8?) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: (key?.count ?? 0) + value.count + 6) { buffer in
            guard let base = buffer.baseAddress else { return }
            var end = base
            func put(_ byte: UInt8) {
                end.pointee = byte
                end += 1
            }
            func put(_ run: UnsafeBufferPointer<UInt8>) {
                guard let from = run.baseAddress else { return }
                end.update(from: from, count: run.count)
                end += run.count
            }
            if needsComma { put(UInt8(ascii: ",")) }
            if let key {
                put(quote)
                put(key)
                put(quote)
                put(UInt8(ascii: ":"))
            }
            if let mark { put(mark) }
            put(value)
            if let mark { put(mark) }
            bytes.append(contentsOf: UnsafeBufferPointer(start: base, count: end - base))
        }
        needsComma = true
    }

    /// Calls the body with a number's digits.
    private static func withDigits(
        of number: UInt64, isNegative: Bool = false, atLeast digits: Int = 1,
        _ body: (UnsafeBufferPointer<UInt8>) -> Void
    ) {
        withUnsafeTemporaryAllocation(of: UInt8.self, capacity: 21) { buffer in
            var place = buffer.count
            var rest = number
            repeat {
                place -= 1
                buffer[place] = UInt8(ascii: "0") + UInt8(truncatingIfNeeded: rest % 10)
                rest /= 10
            } while rest > 0 || buffer.count - place < digits
            if isNegative {
                place -= 1
                buffer[place] = UInt8(ascii: "-")
            }
            body(UnsafeBufferPointer(rebasing: buffer[place...]))
        }
    }

    /// Whether nothing of it needs a second look. Nearly all texts are short and plain: eight bytes at a time.
    private static func isPlain(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
        let bytes = UnsafeRawBufferPointer(text)
        let words = bytes.count / 8
        for word in 0..<words where !isPlain(bytes.loadUnaligned(fromByteOffset: word * 8, as: UInt64.self)) {
            return false
        }
        // The rest, with letters in the place of what is missing.
        var rest = UInt64(0x6161_6161_6161_6161)
        for place in (words * 8)..<bytes.count { rest = rest << 8 | UInt64(bytes[place]) }
        return isPlain(rest)
    }

    /// Whether each of eight bytes is a printing ASCII character but the quotation mark and the backslash.
    private static func isPlain(_ word: UInt64) -> Bool {
        let (ones, tops): (UInt64, UInt64) = (0x0101_0101_0101_0101, 0x8080_8080_8080_8080)
        // A byte less one has its top bit where the byte was 0, as long as none has its top bit itself.
        func hasByte(_ byte: UInt64, in word: UInt64) -> UInt64 { (word ^ ones &* byte) &- ones }
        let isLow = word &- ones &* 0x20
        return (word | isLow | hasByte(0x22, in: word) | hasByte(0x5C, in: word) | hasByte(0x7F, in: word)) & tops == 0
    }

    /// Runs of bytes that stand for themselves are copied as they are.
    private mutating func escape(_ text: UnsafeBufferPointer<UInt8>) {
        var begin = 0
        var place = 0
        while place < text.count {
            guard Self.mayNeedEscape[Int(text[place])], let (length, escaped) = Self.escape(text[place...]) else {
                place += 1
                continue
            }
            bytes += UnsafeBufferPointer(rebasing: text[begin..<place])
            bytes += escaped.utf8
            place += length
            begin = place
        }
        bytes += UnsafeBufferPointer(rebasing: text[begin...])
    }

    /// By the first byte.
    private static let mayNeedEscape: [Bool] = (0...255).map { byte in
        byte < 0x20 || [0x22, 0x5C, 0x7F, 0xC2, 0xD8, 0xE2].contains(byte)
    }

    /// The escape of what valid UTF-8 begins with, and how many bytes it stands for; nil where it needs none.
    private static func escape(_ text: Slice<UnsafeBufferPointer<UInt8>>) -> (length: Int, escaped: String)? {
        switch text[text.startIndex] {
        case 0x22: return (1, "\\\"")
        case 0x5C: return (1, "\\\\")
        case 0x0A: return (1, "\\n")
        case 0x09: return (1, "\\t")
        case 0x0D: return (1, "\\r")
        default: break
        }
        guard let scalar = String(decoding: text.prefix(3), as: UTF8.self).unicodeScalars.first else { return nil }
        if EscapedText.isHarmless(scalar) { return nil }
        let digits = String(scalar.value, radix: 16)
        return (UTF8.width(scalar), "\\u" + String(repeating: "0", count: 4 - digits.utf8.count) + digits)
    }

    private static var nothing: UnsafeBufferPointer<UInt8> { UnsafeBufferPointer(start: nil, count: 0) }
}

private let quote = UInt8(ascii: "\"")
