import Glibc

/// Room in a zip that belongs to no entry: programs leave some between entries, or fill it with headers that stand for
/// none (Android's zipflinger).
enum ZipGap {
    private static let pieceSize: UInt64 = 64 << 10

    /// Whether an entry lies there that the directory does not list: who reads from the beginning looks for the next
    /// header, whatever is before it. `read`: so many bytes from a place on, or as many as there are.
    static func hidesEntry(
        from start: UInt64, to end: UInt64, read: (UInt64, Int) throws(ArchiveError) -> [UInt8]
    ) throws(ArchiveError) -> Bool {
        var place = start
        while place < end, end - place >= UInt64(ArchiveFormat.zipEntryMark.count) {
            let bytes = try read(place, Int(min(end - place, pieceSize)))
            guard bytes.count >= ArchiveFormat.zipEntryMark.count else { return false }
            guard let found = mark(in: bytes) else {
                // It may have begun in the last bytes.
                place += UInt64(bytes.count - ArchiveFormat.zipEntryMark.count + 1)
                continue
            }
            place += UInt64(found)
            guard let length = ZipEntry.padding(Fields(try read(place, 30))), end - place >= length else { return true }
            place += length
        }
        return false
    }

    /// Where a header may begin.
    private static func mark(in bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBytes { bytes -> Int? in
            guard let base = bytes.baseAddress else { return nil }
            var place = 0
            while let found = memchr(base + place, 0x50, bytes.count - place) {
                place = base.distance(to: UnsafeRawPointer(found))
                if bytes[place...].starts(with: ArchiveFormat.zipEntryMark) { return place }
                place += 1
            }
            return nil
        }
    }
}
