/// PNG: chunks that say how long they are, up to IEND.
enum PNGFile: FormatReader {
    private static let start: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    private static let mostChunks = 1 << 21

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard try content.has(start, at: 0) else { return nil }
        var place: Int64 = 8
        for _ in 0..<mostChunks {
            guard let length = try content.big(place, 4) else { return .lacks(.end) }
            let isLast = try content.has("IEND", at: place + 4)
            let kind = try content.bytes(place + 4, 4)
            guard kind.allSatisfy({ (0x41...0x5A).contains($0 & 0xDF) }) else { return .lacks(.sense) }
            place += 12 + length
            if place > content.size { return .lacks(isLast ? .end : .bytes(place - content.size)) }
            if isLast { return .whole }
        }
        return .unclear
    }
}
