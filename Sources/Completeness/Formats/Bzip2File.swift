/// bzip2: the mark that ends a stream, its CRC and less than a byte of zeros are the last bits of the file.
enum Bzip2File: FormatReader {
    private static let blockMark: Int64 = 0x3141_5926_5359, endMark: Int64 = 0x1772_4538_5090

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard try content.has("BZh"), let level = try content.little(3, 1), (0x31...0x39).contains(level),
            let mark = try content.big(4, 6), mark == blockMark || mark == endMark
        else { return nil }
        // 48 bits of the mark, 32 of the CRC, and up to 7.
        let tail = try content.tail(11)
        guard tail.count == 11 else { return .lacks(.end) }
        let bits = tail.reduce(UInt128(0)) { $0 << 8 | UInt128($1) }
        for padding in 0..<8 where bits & (1 << UInt128(padding) - 1) == 0 {
            if Int64(truncatingIfNeeded: bits >> UInt128(padding + 32)) & 0xFFFF_FFFF_FFFF == endMark { return .whole }
        }
        return .lacks(.end)
    }
}
