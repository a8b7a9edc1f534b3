/// What goes as a value.
protocol PostgresValue {
    var postgresText: String { get }
}

extension String: PostgresValue {
    var postgresText: String { self }
}

extension Int: PostgresValue {
    var postgresText: String { String(self) }
}

extension Int64: PostgresValue {
    var postgresText: String { String(self) }
}

extension Bool: PostgresValue {
    var postgresText: String { self ? "t" : "f" }
}

extension [UInt8]: PostgresValue {
    /// As `bytea` reads it.
    var postgresText: String {
        let digits = Array("0123456789abcdef".utf8)
        return String(unsafeUninitializedCapacity: 2 + 2 * count) { text in
            (text[0], text[1]) = (UInt8(ascii: "\\"), UInt8(ascii: "x"))
            for (place, byte) in enumerated() {
                (text[2 + 2 * place], text[3 + 2 * place]) = (digits[Int(byte >> 4)], digits[Int(byte & 15)])
            }
            return 2 + 2 * count
        }
    }

    /// Of such a text; nil where it is none.
    init?(postgres text: String) {
        guard text.hasPrefix("\\x"), text.utf8.count % 2 == 0 else { return nil }
        var bytes: [UInt8] = []
        var high: UInt8?
        for digit in text.utf8.dropFirst(2) {
            guard let value = Character(UnicodeScalar(digit)).hexDigitValue.map({ UInt8($0) }) else { return nil }
            if let first = high { bytes.append(first << 4 | value) }
            high = high == nil ? value : nil
        }
        self = bytes
    }
}
