/// A column of many rows: an array, as the server reads it.
struct PostgresColumn: PostgresValue {
    private var text: [UInt8] = [UInt8(ascii: "{")]

    init(_ values: some Sequence<(any PostgresValue)?>) { for value in values { add(value) } }

    var postgresText: String { String(decoding: text + [UInt8(ascii: "}")], as: UTF8.self) }

    private mutating func add(_ value: (any PostgresValue)?) {
        if text.count > 1 { text.append(UInt8(ascii: ",")) }
        guard let value else { return text.append(contentsOf: "NULL".utf8) }
        let (quote, backslash) = (UInt8(ascii: "\""), UInt8(ascii: "\\"))
        text.append(quote)
        for byte in value.postgresText.utf8 {
            if byte == quote || byte == backslash { text.append(backslash) }
            text.append(byte)
        }
        text.append(quote)
    }
}
