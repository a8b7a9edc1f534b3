import SQLite

/// Rows of values as bytes: the number of columns, then for each value its kind and what it is.
struct RowBlob {
    private(set) var bytes: [UInt8]

    init(columns: Int) { bytes = [UInt8(columns)] }

    mutating func add(_ row: Parameters) {
        row.forEach { value in
            switch value {
            case .null: bytes.append(0)
            case .integer(let number):
                bytes.append(1)
                add(UInt64(bitPattern: number), bytes: 8)
            case .text(let text): add(text, kind: 2)
            case .blob(let blob): add(blob, kind: 3)
            }
        }
    }

    /// Makes room for so many rows like the one that it has, and a little more.
    mutating func expect(rows: Int) { bytes.reserveCapacity(bytes.count * (rows + rows / 8 + 1)) }

    private mutating func add(_ value: Slice<UnsafeRawBufferPointer>, kind: UInt8) {
        bytes.append(kind)
        add(UInt64(value.count), bytes: 4)
        bytes.append(contentsOf: value)
    }

    private mutating func add(_ number: UInt64, bytes count: Int) {
        for place in 0..<count { bytes.append(UInt8(truncatingIfNeeded: number >> (8 * UInt64(place)))) }
    }

    /// The rows that are in such bytes; nil where it is not that.
    static func rows(of bytes: [UInt8]) -> [[Value]]? {
        guard let columns = bytes.first, columns > 0 else { return nil }
        var rest = bytes.dropFirst()
        var rows: [[Value]] = []
        while !rest.isEmpty {
            var row: [Value] = []
            for _ in 0..<columns {
                guard let value = value(&rest) else { return nil }
                row.append(value)
            }
            rows.append(row)
        }
        return rows
    }

    private static func value(_ rest: inout ArraySlice<UInt8>) -> Value? {
        switch rest.popFirst() {
        case 0: return .null
        case 1: return number(&rest, bytes: 8).map { .integer(Int64(bitPattern: $0)) }
        case 2: return run(&rest).flatMap { String(validating: $0, as: UTF8.self) }.map { .text($0) }
        case 3: return run(&rest).map { .blob(Array($0)) }
        default: return nil
        }
    }

    private static func run(_ rest: inout ArraySlice<UInt8>) -> ArraySlice<UInt8>? {
        guard let count = number(&rest, bytes: 4), count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(Int(count)) }
        return rest.prefix(Int(count))
    }

    private static func number(_ rest: inout ArraySlice<UInt8>, bytes count: Int) -> UInt64? {
        guard rest.count >= count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return rest.prefix(count).reversed().reduce(0) { $0 << 8 | UInt64($1) }
    }
}
