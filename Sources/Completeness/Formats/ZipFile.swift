/// Zip (APPNOTE 6.3): its end record lies at the very end and leads to the directory.
enum ZipFile: FormatReader {
    /// The last is the mark of one that was to be split and need not be.
    private static let starts: [[UInt8]] = [
        [0x50, 0x4B, 3, 4], [0x50, 0x4B, 5, 6], [0x50, 0x4B, 7, 8], [0x50, 0x4B, 0x30, 0x30, 0x50, 0x4B, 3, 4],
    ]
    private static let endRecord: [UInt8] = [0x50, 0x4B, 5, 6], directory: [UInt8] = [0x50, 0x4B, 1, 2]
    private static let locator: [UInt8] = [0x50, 0x4B, 6, 7], largeEndRecord: [UInt8] = [0x50, 0x4B, 6, 6]
    private static let endSize = 22, longestComment = 65_535

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        let head = try content.bytes(0, 8)
        guard starts.contains(where: { head.starts(with: $0) }) else { return nil }
        let tail = try content.tail(endSize + longestComment)
        var place = tail.endIndex - endSize
        while place >= tail.startIndex {
            let record = tail[place...]
            // Its comment ends the file, so that no part of a file is taken for it.
            if record.first == 0x50, record.starts(with: endRecord),
                record.dropFirst(20).little(2) == Int64(record.count - endSize)
            {
                return try judge(record, at: content.size - Int64(record.count), in: content)
            }
            place -= 1
        }
        return .lacks(.end)
    }

    private static func judge(
        _ record: ArraySlice<UInt8>, at end: Int64, in content: Content
    ) throws(ReadError) -> Finding {
        let disk = record.dropFirst(4).little(2), entries = record.dropFirst(10).little(2)
        var length = record.dropFirst(12).little(4) ?? 0, start = record.dropFirst(16).little(4) ?? 0
        // The last of several files.
        guard disk == 0 || disk == 0xFFFF else { return .unclear }
        var limit = end
        if entries == 0xFFFF || length == 0xFFFF_FFFF || start == 0xFFFF_FFFF, try content.has(locator, at: end - 20) {
            guard let large = try content.little(end - 12, 8), try content.has(largeEndRecord, at: large),
                let largeLength = try content.little(large + 40, 8), let largeStart = try content.little(large + 48, 8)
            else { return .lacks(.target) }
            (length, start, limit) = (largeLength, largeStart, large)
        }
        // One without entries is nothing but its end.
        guard length > 0 else { return end == 0 || limit == 0 ? .whole : .lacks(.target) }
        guard start + length <= limit, try content.has(directory, at: start) else { return .lacks(.target) }
        return .whole
    }
}
