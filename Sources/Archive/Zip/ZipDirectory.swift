import Glibc

/// The directory at the end of a zip (APPNOTE 6.3.10): what the archive says it holds, checked before any of it is
/// unpacked. Sizes and places come from here alone, and entries that share bytes (zip bombs do) are refused.
struct ZipDirectory {
    /// The most bytes that a directory may have: more than a million entries need.
    private static let mostBytes: UInt64 = 256 << 20
    private static let endSize = 22
    private static let locatorSize = 20

    /// The entries, by their place in the file.
    let entries: [ZipEntry]

    /// Whether libarchive must read it: for methods that are rarely used, and for what is encrypted.
    var needsLibrary: Bool { entries.contains { $0.isByLibrary } }

    /// Reads the directory.
    init(_ input: ArchiveInput, _ policy: UnpackPolicy, _ budget: Budget) throws(ArchiveError) {
        let end = try Self.findEnd(input)
        try budget.expect(entries: Int64(clamping: end.count))
        if end.count == 0 { throw .empty }
        guard end.size <= Self.mostBytes else {
            throw .unsupported(
                nil, "has a directory of \(end.size) bytes", detail: "at most \(Self.mostBytes) are read")
        }
        guard end.offset <= UInt64(end.place), end.size <= UInt64(end.place) - end.offset else {
            throw .damaged(nil, detail: "the directory lies outside the file")
        }
        let bytes = try input.read(Int(end.size), at: Int64(end.offset))
        guard bytes.count == Int(end.size) else { throw .damaged(nil, "ends too early") }
        var entries: [ZipEntry] = []
        // What the end says is not believed before it is seen: no entry takes less.
        entries.reserveCapacity(min(Int(clamping: end.count), bytes.count / 46))
        var place = 0
        while place < bytes.count {
            guard UInt64(entries.count) < end.count else { break }
            entries.append(try ZipEntry(bytes, &place, policy.nameEncoding))
        }
        guard UInt64(entries.count) == end.count, place == bytes.count else {
            throw .damaged(nil, detail: "the directory holds another number of entries than it says")
        }
        entries.sort { $0.offset < $1.offset }
        if let first = entries.first, first.offset > 0, try input.read(4, at: 0) == [0x50, 0x4B, 3, 4] {
            throw .damaged(nil, "begins with an entry that its directory does not list")
        }
        self.entries = try Self.limited(entries, to: end.offset)
    }

    /// Gives each entry the place where the next one begins; none may reach beyond.
    private static func limited(_ entries: [ZipEntry], to end: UInt64) throws(ArchiveError) -> [ZipEntry] {
        var entries = entries
        for index in entries.indices {
            let next = index + 1 < entries.count ? entries[index + 1].offset : end
            let entry = entries[index]
            let (least, overflow) = entry.offset.addingReportingOverflow(30 + UInt64(entry.storedName.count))
            let (last, overflow2) = least.addingReportingOverflow(entry.compressedSize)
            guard !overflow, !overflow2, last <= next else {
                throw .unsafe(entry.name, "shares its bytes with another entry, as in archives made to fill disks")
            }
            entries[index].limit = next
        }
        return entries
    }

    /// What the record at the end says.
    private struct End {
        var count: UInt64
        var size: UInt64
        var offset: UInt64
        /// Where the directory must end at the latest.
        var place: Int64
    }

    private static func findEnd(_ input: ArchiveInput) throws(ArchiveError) -> End {
        let tailSize = Int(min(input.size, Int64(endSize + Int(UInt16.max))))
        let tailStart = input.size - Int64(tailSize)
        let tail = try input.read(tailSize, at: tailStart)
        guard let index = endRecord(in: tail) else {
            if try input.read(4, at: 0) == [0x50, 0x4B, 7, 8] { throw splitArchive }
            throw .damaged(nil, "ends too early, or has more data after its end")
        }
        // Another reader may take a record within the comment for the end, and see another archive.
        guard !Self.holdsEndRecord(tail[(index + 4)...]) else {
            throw .damaged(nil, detail: "there are two records of its end")
        }
        let record = Fields(Array(tail[index...]))
        let place = tailStart + Int64(index)
        guard let disk = record.u16(4), let start = record.u16(6), let here = record.u16(8), let count = record.u16(10),
            let size = record.u32(12), let offset = record.u32(16)
        else { throw .damaged(nil, "ends too early") }
        if count == .max || size == .max || offset == .max || disk == .max,
            let end = try findEnd64(input, before: place)
        {
            return end
        }
        guard disk == 0, start == 0, here == count else { throw splitArchive }
        return End(count: UInt64(count), size: UInt64(size), offset: UInt64(offset), place: place)
    }

    private static func holdsEndRecord(_ bytes: ArraySlice<UInt8>) -> Bool {
        bytes.indices.dropLast(3).contains { bytes[$0...].starts(with: [0x50, 0x4B, 5, 6]) }
    }

    /// The last place where the record's mark stands and its comment ends with the file.
    private static func endRecord(in tail: [UInt8]) -> Int? {
        guard tail.count >= endSize else { return nil }
        for index in stride(from: tail.count - endSize, through: 0, by: -1)
        where tail[index] == 0x50 && tail[index + 1] == 0x4B && tail[index + 2] == 5 && tail[index + 3] == 6 {
            if index + endSize + Int(tail[index + 20]) + Int(tail[index + 21]) << 8 == tail.count { return index }
        }
        return nil
    }

    /// The record of large archives; nil where there is none.
    private static func findEnd64(_ input: ArchiveInput, before place: Int64) throws(ArchiveError) -> End? {
        guard place >= Int64(locatorSize) else { return nil }
        let locator = Fields(try input.read(locatorSize, at: place - Int64(locatorSize)))
        guard locator.u32(0) == 0x0706_4B50, let disks = locator.u32(16), let offset = locator.u64(8) else {
            return nil
        }
        guard disks <= 1 else { throw splitArchive }
        guard offset <= UInt64(place) - UInt64(locatorSize) else { throw .damaged(nil) }
        let record = Fields(try input.read(56, at: Int64(offset)))
        guard record.u32(0) == 0x0606_4B50, let disk = record.u32(16), let here = record.u64(24),
            let count = record.u64(32), let size = record.u64(40), let start = record.u64(48)
        else { throw .damaged(nil, detail: "the record of a large archive is missing") }
        guard disk == 0, here == count else { throw splitArchive }
        return End(count: count, size: size, offset: start, place: Int64(offset))
    }

    private static var splitArchive: ArchiveError {
        .bad(
            ArchiveError.Problem(
                code: .unsupported, entry: nil, fact: "is one part of a split archive",
                remedy: "Put the parts together (zip -s 0 ARCHIVE --out WHOLE), and send that.", detail: ""))
    }
}
