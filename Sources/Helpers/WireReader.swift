/// Takes values out of a packet in the order they were put in. What comes from a helper may be anything, so each is nil
/// where it is not what it should be.
package struct WireReader {
    private var rest: ArraySlice<UInt8>

    package init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

    /// Whether all was taken.
    package var isAtEnd: Bool { rest.isEmpty }

    /// A number.
    package mutating func number() -> Int64? {
        guard rest.count >= 8 else { return nil }
        let value = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        return Int64(bitPattern: value)
    }

    /// A number that is an `Int` here.
    package mutating func int() -> Int? { number().flatMap { Int(exactly: $0) } }

    /// A yes or a no.
    package mutating func flag() -> Bool? {
        guard let byte = rest.popFirst(), byte <= 1 else { return nil }
        return byte == 1
    }

    /// Bytes.
    package mutating func array() -> [UInt8]? {
        guard let count = int(), count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    /// Text that is UTF-8.
    package mutating func text() -> String? { array().flatMap { String(validating: $0, as: UTF8.self) } }

    /// Bytes, or that there are none (`.some(nil)`).
    package mutating func optionalArray() -> [UInt8]?? {
        guard let isThere = flag() else { return nil }
        if !isThere { return .some(nil) }
        return array().map { .some($0) }
    }

    /// A word that stands for a value.
    package mutating func word<Value: RawRepresentable<String>>(_ type: Value.Type) -> Value? {
        text().flatMap { Value(rawValue: $0) }
    }
}
