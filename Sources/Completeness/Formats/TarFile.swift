/// tar: from header to header up to two blocks of zeros.
enum TarFile: FormatReader {
    private static let block: Int64 = 512
    private static let mostHeaders = 1 << 20
    /// The most of a pax header that is read.
    private static let mostRecords: Int64 = 1 << 16

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard isHeader(try content.bytes(0, 512)) else { return nil }
        var place: Int64 = 0
        var announced: Int64?
        for _ in 0..<mostHeaders {
            let header = Array(try content.bytes(place, 512))
            guard header.count == 512 else { return .lacks(.end) }
            if header.allSatisfy({ $0 == 0 }) {
                let second = try content.bytes(place + block, 512)
                return second.count == 512 && second.allSatisfy { $0 == 0 } ? .whole : .lacks(.end)
            }
            guard isHeader(header[...]), let ownSize = number(header[124..<136]) else { return .lacks(.sense) }
            place += block
            var size = announced ?? ownSize
            // Headers that say something of the next one, and are themselves as long as they say.
            let isRemark = "xgLK".utf8.contains(header[156])
            if isRemark { size = ownSize } else { announced = nil }
            switch header[156] {
            // Links, devices, folders and FIFOs have nothing behind them, whatever their size says.
            case UInt8(ascii: "1")...UInt8(ascii: "6"): size = 0
            case UInt8(ascii: "x"):
                announced = Self.size(in: try content.bytes(place, Int(clamping: min(ownSize, mostRecords))))
            case UInt8(ascii: "S"):
                // An old GNU header of a sparse file may go on in blocks of its own.
                var more = header[482]
                while more != 0 {
                    guard let next = try content.little(place + 504, 1) else { return .lacks(.end) }
                    more = UInt8(truncatingIfNeeded: next)
                    place += block
                }
            default: break
            }
            place += (min(max(0, size), Content.mostNumber) + block - 1) / block * block
            if place > content.size { return .lacks(.bytes(place - content.size)) }
        }
        return .unclear
    }

    /// Whether the checksum fits, with the bytes taken as they are or, by some old programs, with a sign.
    private static func isHeader(_ header: ArraySlice<UInt8>) -> Bool {
        let bytes = Array(header)
        guard bytes.count == 512, let sum = number(bytes[148..<156]) else { return false }
        let rest = bytes[..<148] + bytes[156...]
        let unsigned = rest.reduce(Int64(8 * 32)) { $0 + Int64($1) }
        let signed = rest.reduce(Int64(8 * 32)) { $0 + Int64(Int8(bitPattern: $1)) }
        return sum == unsigned && sum != 8 * 32 || sum == signed && sum != 8 * 32
    }

    /// Octal digits, or from the first bit on a number as it is.
    private static func number(_ field: ArraySlice<UInt8>) -> Int64? {
        if let first = field.first, first >= 0x80 { return first == 0x80 ? field.suffix(8).big(8) : nil }
        let digits = field.drop { $0 == 32 }.prefix { $0 != 0 && $0 != 32 }
        if digits.isEmpty { return 0 }
        return Int64(String(decoding: digits, as: UTF8.self), radix: 8)
    }

    /// The size that a pax header gives: `20 size=12884901888`.
    private static func size(in records: ArraySlice<UInt8>) -> Int64? {
        let lines = records.split(separator: UInt8(ascii: "\n"))
        let line = lines.last { $0.drop { $0 != 32 }.starts(with: Array(" size=".utf8)) }
        let digits = line.map { $0.drop { $0 != UInt8(ascii: "=") }.dropFirst() }
        return digits.flatMap { Int64(String(decoding: $0, as: UTF8.self)) }.map { max(0, min($0, Content.mostNumber)) }
    }
}
