/// JPEG: segments that say how long they are, then compressed data, in which no mark can stand but those of its own, up
/// to the end of the image. What follows that (a second picture, a film) is nothing that could be told.
enum JPEGFile: FormatReader {
    private static let mostSegments = 10_000

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard try content.has([0xFF, 0xD8, 0xFF], at: 0) else { return nil }
        var place: Int64 = 2
        for _ in 0..<mostSegments {
            guard let first = try content.big(place, 1), let mark = try content.big(place + 1, 1) else {
                return .lacks(.end)
            }
            guard first == 0xFF else { return .lacks(.sense) }
            switch mark {
            // Filling.
            case 0xFF: place += 1
            case 0xD9: return .whole
            // Those without a length.
            case 0x01, 0xD0...0xD7: place += 2
            default:
                guard let length = try content.big(place + 2, 2) else { return .lacks(.end) }
                guard length >= 2 else { return .lacks(.sense) }
                place += 2 + length
                if place > content.size { return .lacks(.bytes(place - content.size)) }
                // Behind the beginning of a scan there is its data.
                if mark == 0xDA {
                    guard let next = try Self.mark(after: place, in: content) else { return .unclear }
                    guard next >= 0 else { return .lacks(.end) }
                    place = next
                }
            }
        }
        return .unclear
    }

    /// Where the next mark is that does not belong to the data; -1 for none, nil where there is too much of that.
    private static func mark(after start: Int64, in content: Content) throws(ReadError) -> Int64? {
        var place = start
        var isAfterFF = false
        let isFound = try content.stream(from: start) { piece in
            for byte in piece {
                if isAfterFF, byte != 0, byte != 0xFF, !(0xD0...0xD7).contains(byte) {
                    place -= 1
                    return true
                }
                isAfterFF = byte == 0xFF
                place += 1
            }
            return false
        }
        return isFound.map { $0 ? place : -1 }
    }
}
