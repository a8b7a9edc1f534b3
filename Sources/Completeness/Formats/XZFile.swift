import CISAL

/// xz: each stream ends with an index and a footer, which lead to its beginning. Read from the end.
enum XZFile: FormatReader {
    private static let start: [UInt8] = [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]
    private static let edge: Int64 = 12
    private static let mostStreams = 100_000, mostBlocks: Int64 = 1 << 20

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard try content.has(start, at: 0) else { return nil }
        var end = content.size
        for _ in 0..<mostStreams {
            // Streams are filled up with zeros, by four; a file that broke off may be as well.
            guard let zeros = try content.zeros(before: end) else { return .lacks(.end) }
            end -= (end - zeros) / 4 * 4
            guard let stream = try beginning(ofStreamTo: end, in: content) else { return .lacks(.end) }
            guard stream.blocks < mostBlocks else { return .unclear }
            guard stream.start >= 0, try content.has(start, at: stream.start),
                try Array(content.bytes(stream.start + 6, 2)) == Array(content.bytes(end - 4, 2))
            else { return .lacks(.target) }
            end = stream.start
            if end == 0 { return .whole }
        }
        return .unclear
    }

    /// Where the stream begins that ends there, by its footer and its index; nil where none ends there.
    private static func beginning(
        ofStreamTo end: Int64, in content: Content
    ) throws(ReadError) -> (start: Int64, blocks: Int64)? {
        let footer = Array(try content.bytes(end - edge, Int(edge)))
        guard end >= 2 * edge, footer.suffix(2) == [0x59, 0x5A], footer.little(4) == Int64(crc(footer[4..<10])),
            let words = footer.dropFirst(4).little(4)
        else { return nil }
        var index = Index(content: content, place: end - edge - (words + 1) * 4)
        guard try content.has([0], at: index.place) else { return nil }
        index.place += 1
        guard let blocks = try index.number(), blocks < mostBlocks else { return (0, mostBlocks) }
        var length: Int64 = 0
        for _ in 0..<blocks {
            guard let block = try index.number(), try index.number() != nil else { return nil }
            length = min(length + (block + 3) / 4 * 4, Content.mostNumber)
        }
        return (end - edge - (words + 1) * 4 - length - edge, blocks)
    }

    /// The numbers of an index, of seven bits each byte.
    private struct Index {
        let content: Content
        var place: Int64

        mutating func number() throws(ReadError) -> Int64? {
            var value: Int64 = 0
            for shift in stride(from: Int64(0), to: 63, by: 7) {
                guard let byte = try content.little(place, 1) else { return nil }
                place += 1
                value |= (byte & 0x7F) << shift
                if byte < 0x80 { return min(value, Content.mostNumber) }
            }
            return nil
        }
    }

    private static func crc(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        Array(bytes).withUnsafeBufferPointer { crc32_gzip_refl(0, $0.baseAddress, UInt64($0.count)) }
    }
}
