/// Zstandard (RFC 8878): frames of blocks that say how long they are, and which of them is the last.
enum ZstdFile: FormatReader {
    private static let frame: Int64 = 0xFD2F_B528
    private static let skippable: ClosedRange<Int64> = 0x184D_2A50...0x184D_2A5F
    private static let mostBlocks = 1 << 22

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard let magic = try content.little(0, 4), magic == frame || skippable.contains(magic) else { return nil }
        var place: Int64 = 0
        var blocks = 0
        while place < content.size {
            guard let magic = try content.little(place, 4) else { return .lacks(.end) }
            if skippable.contains(magic) {
                guard let length = try content.little(place + 4, 4) else { return .lacks(.end) }
                place += 8 + length
            } else if magic == frame {
                guard let flags = try content.little(place + 4, 1) else { return .lacks(.end) }
                place += headerSize(flags)
                var isLast = false
                while !isLast {
                    guard let header = try content.little(place, 3) else { return .lacks(.end) }
                    isLast = header & 1 == 1
                    // 3 is not a type; of 1, one byte is repeated.
                    guard header >> 1 & 3 != 3 else { return .lacks(.sense) }
                    // An empty block is allowed, but nothing else to the end is what was not written.
                    if header == 0, try content.isUnwritten(from: place) { return .lacks(.end) }
                    place += 3 + (header >> 1 & 3 == 1 ? 1 : header >> 3)
                    blocks += 1
                    if blocks == mostBlocks { return .unclear }
                }
                // The checksum.
                if flags & 4 != 0 { place += 4 }
            } else {
                return .lacks(.sense)
            }
        }
        return place == content.size ? .whole : .lacks(.bytes(place - content.size))
    }

    private static func headerSize(_ flags: Int64) -> Int64 {
        let isSingle = flags & 0x20 != 0
        let dictionary: [Int64] = [0, 1, 2, 4], length: [Int64] = [isSingle ? 1 : 0, 2, 4, 8]
        return 5 + (isSingle ? 0 : 1) + dictionary[Int(flags & 3)] + length[Int(flags >> 6)]
    }
}
