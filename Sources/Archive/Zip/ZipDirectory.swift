import Glibc

/// The directory at the end of a zip (APPNOTE 6.3.10): what the archive says it holds, checked before any of it is
/// unpacked. Sizes and places come from here alone, and entries that share bytes (zip bombs do) are refused.
struct ZipDirectory {
    /// The most bytes that a directory may have: more than a million entries need.
    private static let mostBytes: UInt64 = 256 << 20

    /// The entries, by their place in the file.
    let entries: [ZipEntry]

    /// Whether libarchive must read it: for methods that are rarely used, and for what is encrypted.
    var needsLibrary: Bool { entries.contains { $0.isByLibrary } }

    init(_ input: ArchiveInput, _ policy: UnpackPolicy, _ budget: Budget) throws(ArchiveError) {
        let end = try ZipEnd.find(input)
        try budget.expect(entries: Int64(clamping: end.count))
        if end.count == 0 { throw .empty }
        guard end.size <= Self.mostBytes else {
            throw .unsupported(
                nil, "has a directory of \(end.size) bytes", detail: "at most \(Self.mostBytes) are read")
        }
        guard end.offset <= UInt64(end.place), end.size <= UInt64(end.place) - end.offset else {
            throw .damaged(nil, detail: "the directory lies outside the file")
        }
        // A second directory, or a second archive, would lie there.
        guard end.offset + end.size == UInt64(end.place) else {
            throw .ambiguous(nil, "has data between its directory and its end record")
        }
        let bytes = try input.read(Int(end.size), at: Int64(end.offset))
        guard bytes.count == Int(end.size) else { throw .early() }
        if !bytes.starts(with: [0x50, 0x4B, 1, 2]), try Self.isEncrypted(input) { throw .encrypted(nil, isZip: false) }
        var entries: [ZipEntry] = []
        // What the end says is not believed before it is seen: no entry takes less.
        entries.reserveCapacity(min(Int(clamping: end.count), bytes.count / 46))
        var place = 0
        while place < bytes.count {
            guard UInt64(entries.count) < end.count else { break }
            entries.append(try ZipEntry(bytes, &place, policy.nameEncoding))
        }
        guard UInt64(entries.count) == end.count, place == bytes.count else {
            throw .damaged(nil, detail: "the directory's entry count is wrong")
        }
        entries.sort { $0.offset < $1.offset }
        // What was to be split begins with a mark.
        let read = { (place: UInt64, count: Int) throws(ArchiveError) in try input.read(count, at: Int64(place)) }
        if let first = entries.first, try ZipGap.hidesEntry(from: 0, to: first.offset, read: read) {
            throw .ambiguous(nil, "begins with an entry missing from its directory")
        }
        self.entries = try Self.limited(entries, to: end.offset)
    }

    /// Whether the headers before entries' data say that what the directory has of them is encrypted (APPNOTE 7.3.4).
    private static func isEncrypted(_ input: ArchiveInput) throws(ArchiveError) -> Bool {
        let header = try input.read(30, at: 0)
        return header.starts(with: ArchiveFormat.zipEntryMark) && (Fields(header).u16(6) ?? 0) & 0x2000 != 0
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
                throw .unsafe(entry.name, "shares its bytes with another entry, as zip bombs do")
            }
            entries[index].limit = next
        }
        return entries
    }
}
