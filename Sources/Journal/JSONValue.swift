/// The little JSON that the journal's columns hold (`JSONText` writes it), as a tree that traps on nothing.
package enum JSONValue: Equatable {
    case null
    case bool(Bool)
    /// A whole number; 128 bits hold both Int64 and UInt64, and the journal writes no other.
    case number(Int128)
    case string(String)
    case array([JSONValue])
    case object([String: JSONValue])

    /// The value that a text holds, or nil where it is no JSON of ours.
    package init?(_ text: String) {
        var reader = JSONReader(text)
        guard let value = reader.whole() else { return nil }
        self = value
    }

    package var string: String? { if case .string(let text) = self { text } else { nil } }
    package var bool: Bool? { if case .bool(let value) = self { value } else { nil } }
    package var array: [JSONValue]? { if case .array(let values) = self { values } else { nil } }
    package var object: [String: JSONValue]? { if case .object(let members) = self { members } else { nil } }

    package func integer<Integer: FixedWidthInteger>(_ type: Integer.Type = Integer.self) -> Integer? {
        if case .number(let value) = self { Integer(exactly: value) } else { nil }
    }
}

/// Reads JSON as RFC 8259 has it, but for fractions and exponents.
private struct JSONReader {
    private var rest: Substring.UTF8View
    /// Damaged text must not exhaust the stack.
    private var depth = 0
    private static let deepest = 32

    init(_ text: String) { rest = Substring(text).utf8 }

    mutating func whole() -> JSONValue? {
        guard let value = value() else { return nil }
        skipSpace()
        return rest.isEmpty ? value : nil
    }

    private mutating func value() -> JSONValue? {
        skipSpace()
        switch rest.first {
        case UInt8(ascii: "{"): return object()
        case UInt8(ascii: "["): return array()
        case UInt8(ascii: "\""): return string().map { .string($0) }
        case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
        case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
        case UInt8(ascii: "n"): return take("null") ? .null : nil
        default: return number()
        }
    }

    private mutating func object() -> JSONValue? {
        var members: [String: JSONValue] = [:]
        let isWhole = list(closing: UInt8(ascii: "}")) { reader in
            reader.skipSpace()
            guard let key = reader.string() else { return false }
            reader.skipSpace()
            guard reader.take(":"), let value = reader.value() else { return false }
            members[key] = value
            return true
        }
        return isWhole ? .object(members) : nil
    }

    private mutating func array() -> JSONValue? {
        var elements: [JSONValue] = []
        let isWhole = list(closing: UInt8(ascii: "]")) { reader in
            guard let value = reader.value() else { return false }
            elements.append(value)
            return true
        }
        return isWhole ? .array(elements) : nil
    }

    private mutating func list(closing: UInt8, _ element: (inout JSONReader) -> Bool) -> Bool {
        guard depth < Self.deepest else { return false }
        depth += 1
        defer { depth -= 1 }
        rest.removeFirst()
        skipSpace()
        if rest.first == closing {
            rest.removeFirst()
            return true
        }
        while element(&self) {
            skipSpace()
            guard let next = rest.popFirst() else { return false }
            if next == closing { return true }
            guard next == UInt8(ascii: ",") else { return false }
        }
        return false
    }

    private mutating func string() -> String? {
        guard take("\"") else { return nil }
        var text = ""
        while let end = rest.firstIndex(where: { $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "\\") }) {
            text += String(Substring(rest[..<end]))
            let isEscape = rest[end] == UInt8(ascii: "\\")
            rest = rest[rest.index(after: end)...]
            guard isEscape else { return text }
            guard let scalar = escape() else { return nil }
            text.unicodeScalars.append(scalar)
        }
        return nil
    }

    /// What follows a backslash. Our writer escapes no surrogates, so they are not put together here.
    private mutating func escape() -> Unicode.Scalar? {
        switch rest.popFirst() {
        case UInt8(ascii: "\""): return "\""
        case UInt8(ascii: "\\"): return "\\"
        case UInt8(ascii: "/"): return "/"
        case UInt8(ascii: "n"): return "\n"
        case UInt8(ascii: "r"): return "\r"
        case UInt8(ascii: "t"): return "\t"
        case UInt8(ascii: "b"): return "\u{8}"
        case UInt8(ascii: "f"): return "\u{C}"
        case UInt8(ascii: "u"):
            let digits = Substring(rest.prefix(4))
            guard digits.utf8.count == 4, let code = UInt32(digits, radix: 16) else { return nil }
            rest.removeFirst(4)
            return Unicode.Scalar(code)
        default: return nil
        }
    }

    private mutating func number() -> JSONValue? {
        let digits = Substring(rest.prefix { $0 == UInt8(ascii: "-") || (0x30...0x39).contains($0) })
        guard let value = Int128(digits) else { return nil }
        rest.removeFirst(digits.utf8.count)
        return .number(value)
    }

    private mutating func skipSpace() {
        while let byte = rest.first, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { rest.removeFirst() }
    }

    private mutating func take(_ word: StaticString) -> Bool {
        let matches = word.withUTF8Buffer { rest.starts(with: $0) }
        if matches { rest.removeFirst(word.utf8CodeUnitCount) }
        return matches
    }
}
