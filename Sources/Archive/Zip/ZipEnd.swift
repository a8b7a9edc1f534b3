/// What the records at the end of a zip say of its directory (APPNOTE 4.3.14 to 4.3.16).
struct ZipEnd {
    private static let size = 22
    private static let locatorSize = 20
    private static let wideSize = 56
    /// How far an end is looked for before the file's, to say what is wrong.
    private static let trailingSize = 1 << 20

    /// How many entries the directory has.
    let count: UInt64
    let size: UInt64
    let offset: UInt64
    /// Where the records begin, and the directory must end.
    let place: Int64

    /// Finds the record that ends the file.
    static func find(_ input: ArchiveInput) throws(ArchiveError) -> ZipEnd {
        let tailSize = Int(min(input.size, Int64(size + Int(UInt16.max))))
        let tailStart = input.size - Int64(tailSize)
        let tail = try input.read(tailSize, at: tailStart)
        guard let index = tail.endRecord(size, endsWithFile: true) else {
            if try input.read(4, at: 0) == [0x50, 0x4B, 7, 8] { throw part }
            // One whose comment ends before the file does.
            let wider = try input.read(trailingSize, at: max(0, input.size - Int64(trailingSize)))
            guard let early = wider.endRecord(size, endsWithFile: false) else { throw .early() }
            throw .trailing(Int64(wider.count - early - size - wider.commentLength(early)))
        }
        // Another reader may take a record within the comment for the end, and see another archive.
        guard tail[(index + 4)...].endRecordMark == nil else { throw .ambiguous(nil, "has two end records") }
        let record = Fields(Array(tail[index...]))
        let place = tailStart + Int64(index)
        guard let disk = record.u16(4), let start = record.u16(6), let here = record.u16(8), let count = record.u16(10),
            let size = record.u32(12), let offset = record.u32(16)
        else { throw .early() }
        // Mostly it was read with the rest.
        let before = Array(tail[..<index].suffix(locatorSize))
        let locator =
            before.count == locatorSize ? before : try input.read(locatorSize, at: max(0, place - Int64(locatorSize)))
        if let wide = try findWide(input, Fields(locator), endingAt: place) {
            // What is not in the large record alone must be as there.
            guard count == .max || UInt64(count) == wide.count, size == .max || UInt64(size) == wide.size,
                offset == .max || UInt64(offset) == wide.offset
            else { throw .ambiguous(nil, "has two different end records") }
            return wide
        }
        guard disk == 0, start == 0, here == count else { throw part }
        return ZipEnd(count: UInt64(count), size: UInt64(size), offset: UInt64(offset), place: place)
    }

    /// The record of large archives, right before the locator that leads to it, which ends at the place; nil where
    /// there is none.
    private static func findWide(
        _ input: ArchiveInput, _ locator: Fields, endingAt place: Int64
    ) throws(ArchiveError) -> ZipEnd? {
        let end = place - Int64(locatorSize)
        guard end >= 0, locator.u32(0) == 0x0706_4B50, let disks = locator.u32(16), let offset = locator.u64(8) else {
            return nil
        }
        guard disks <= 1 else { throw part }
        guard offset <= UInt64(end) else { throw .damaged(nil, detail: "the zip64 record is missing") }
        let record = Fields(try input.read(wideSize + 20, at: Int64(offset)))
        guard record.u32(0) == 0x0606_4B50, let length = record.u64(4), let disk = record.u32(16),
            let here = record.u64(24), let count = record.u64(32), let size = record.u64(40), let start = record.u64(48)
        else { throw .damaged(nil, detail: "the zip64 record is missing") }
        // Its second version tells how the directory is encrypted (APPNOTE 7.3.4).
        if length >= 64, let algorithm = record.u16(wideSize + 18), algorithm != 0 {
            throw .encrypted(nil, isZip: false)
        }
        guard disk == 0, here == count else { throw part }
        guard length >= UInt64(wideSize - 12), length < 1 << 32, length + 12 == UInt64(end) - offset else {
            throw .ambiguous(nil, "has data between its end records")
        }
        return ZipEnd(count: count, size: size, offset: start, place: Int64(offset))
    }

    private static var part: ArchiveError {
        .part(remedy: "Join the parts (zip -s 0 ARCHIVE --out WHOLE) and send the result.")
    }
}

extension [UInt8] {
    /// The last place where a record of so many bytes begins whose comment ends with the file, or before it.
    fileprivate func endRecord(_ size: Int, endsWithFile: Bool) -> Int? {
        var rest = self[...]
        while let index = rest.endRecordMark {
            if index + size <= count {
                let end = index + size + commentLength(index)
                if endsWithFile ? end == count : end < count { return index }
            }
            rest = rest[..<(index + 3)]
        }
        return nil
    }

    /// The length of the comment of a record at that place.
    fileprivate func commentLength(_ index: Int) -> Int { Int(self[index + 20]) | Int(self[index + 21]) << 8 }
}

extension ArraySlice<UInt8> {
    /// Where the last mark of such a record begins.
    fileprivate var endRecordMark: Int? {
        indices.dropLast(3).last { self[$0] == 0x50 && self[$0 + 1] == 0x4B && self[$0 + 2] == 5 && self[$0 + 3] == 6 }
    }
}
