import Glibc
import SystemPackage

/// Reads the data of zip entries, stored or deflated, and holds each against what the directory says of it. Used on one
/// thread.
final class ZipEntryReader {
    private static let inputSize = 128 << 10
    private static let outputSize = 256 << 10

    private let descriptor: Int32
    private let budget: Budget
    private let input = UnsafeMutableRawBufferPointer.allocate(byteCount: inputSize, alignment: 16)
    private let output = UnsafeMutableRawBufferPointer.allocate(byteCount: outputSize, alignment: 16)
    private let inflater = Inflater(.none)
    /// Which bytes of the file lie in `input`.
    private var start: UInt64 = 0
    private var count = 0

    /// A reader of the file, whose descriptor must stay open.
    init(_ descriptor: Int32, _ budget: Budget) {
        self.descriptor = descriptor
        self.budget = budget
    }

    deinit {
        input.deallocate()
        output.deallocate()
    }

    /// Gives the entry's content block by block, and throws where anything about it is not as the directory says.
    func read(
        _ entry: ZipEntry, _ body: (UnsafeRawBufferPointer) throws(ArchiveError) -> Void
    ) throws(ArchiveError) {
        try budget.checkStopped()
        let data = try dataStart(of: entry)
        let sum =
            entry.method == .stored ? try copy(entry, from: data, body) : try inflate(entry, from: data, body)
        guard sum == entry.checksum else { throw .damaged(entry.name, "does not match its checksum") }
        let end = data + entry.compressedSize
        try checkGap(after: entry, at: end + (try checkDescriptor(of: entry, at: end)))
    }

    /// Looks only at what is around the data, for an entry whose data others read.
    func checkHeader(of entry: ZipEntry) throws(ArchiveError) {
        try checkGap(after: entry, at: try dataStart(of: entry) + entry.compressedSize)
    }

    /// Another program would see the entry that is not listed.
    private func checkGap(after entry: ZipEntry, at start: UInt64) throws(ArchiveError) {
        let read = { (place: UInt64, count: Int) throws(ArchiveError) -> [UInt8] in
            guard let bytes = try self.bytes(at: place, atLeast: count, of: entry) else { return [] }
            return Array(bytes.prefix(count))
        }
        guard try !ZipGap.hidesEntry(from: start, to: entry.limit, read: read) else {
            throw .ambiguous(entry.name, "is followed by an entry missing from the archive's directory")
        }
    }

    /// The header before the data says the same as the directory, or nothing (APPNOTE 4.3.7).
    private func dataStart(of entry: ZipEntry) throws(ArchiveError) -> UInt64 {
        let nameEnd = 30 + entry.storedName.count
        guard var header = try bytes(at: entry.offset, atLeast: nameEnd, of: entry) else { throw .damaged(entry.name) }
        func u16(_ offset: Int) -> UInt16 {
            header.loadUnaligned(fromByteOffset: offset, as: UInt16.self).littleEndian
        }
        func u32(_ offset: Int) -> UInt32 {
            header.loadUnaligned(fromByteOffset: offset, as: UInt32.self).littleEndian
        }
        var differs: ArchiveError {
            .damaged(entry.name, "differs from the archive's directory")
        }
        guard u32(0) == 0x0403_4B50, u16(8) == entry.method.number, (u16(6) ^ entry.flags) & 0x0809 == 0,
            Int(u16(26)) == entry.storedName.count, header[30..<nameEnd].elementsEqual(entry.storedName)
        else { throw differs }
        let extraEnd = nameEnd + Int(u16(28))
        if header.count < extraEnd {
            guard let whole = try bytes(at: entry.offset, atLeast: extraEnd, of: entry) else {
                throw .damaged(entry.name)
            }
            header = whole
        }
        guard let extra = ZipExtra(UnsafeRawBufferPointer(rebasing: header[nameEnd..<extraEnd])) else {
            throw .damaged(entry.name, "has an extra field longer than its header")
        }
        if !entry.isMarkedUTF8, let name = extra.name(for: entry.storedName), name != entry.name { throw differs }
        var place = 0
        func agrees(_ offset: Int, _ value: UInt64, isSize: Bool = true) -> Bool {
            var stored = UInt64(u32(offset))
            // In zip64 it stands elsewhere.
            if isSize, stored == UInt64(UInt32.max), let wide = extra.wide?.u64(place) {
                stored = wide
                place += 8
            }
            // With a descriptor it may not be known yet.
            return stored == value || entry.hasDescriptor && stored == 0
        }
        guard agrees(14, UInt64(entry.checksum), isSize: false), agrees(22, entry.size),
            agrees(18, entry.compressedSize)
        else { throw differs }
        let data = entry.offset + UInt64(extraEnd)
        guard data + entry.compressedSize <= entry.limit else {
            throw .unsafe(entry.name, "shares its bytes with another entry, as zip bombs do")
        }
        return data
    }

    private func copy(
        _ entry: ZipEntry, from data: UInt64, _ body: (UnsafeRawBufferPointer) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> UInt32 {
        guard entry.size == entry.compressedSize else { throw .damaged(entry.name, "has two different sizes") }
        var sum: UInt32 = 0
        var place = data
        let end = data + entry.size
        while place < end {
            guard let block = try bytes(at: place, atLeast: 1, of: entry) else { throw .damaged(entry.name) }
            let part = UnsafeRawBufferPointer(rebasing: block.prefix(Int(min(UInt64(block.count), end - place))))
            budget.consume(Int64(part.count))
            sum = CRC32.of(part, after: sum)
            try body(part)
            place += UInt64(part.count)
        }
        return sum
    }

    private func inflate(
        _ entry: ZipEntry, from data: UInt64, _ body: (UnsafeRawBufferPointer) throws(ArchiveError) -> Void
    ) throws(ArchiveError) -> UInt32 {
        inflater.begin()
        inflater.give([], at: nil)
        var sum: UInt32 = 0
        var place = data
        let end = data + entry.compressedSize
        var length: UInt64 = 0
        while !inflater.isOver {
            if inflater.needsInput, place < end {
                guard let block = try bytes(at: place, atLeast: 1, of: entry) else { throw .damaged(entry.name) }
                let part = block.prefix(Int(min(UInt64(block.count), end - place)))
                budget.consume(Int64(part.count))
                inflater.give(part, at: block.baseAddress)
                place += UInt64(part.count)
            }
            let isLast = inflater.needsInput
            let count = try inflate(entry)
            if count == 0, isLast, !inflater.isOver { throw .damaged(entry.name, "ends too early") }
            length += UInt64(count)
            guard length <= entry.size else { throw wrongSize(entry) }
            let block = UnsafeRawBufferPointer(rebasing: output[..<count])
            if !block.isEmpty {
                sum = CRC32.of(block, after: sum)
                try body(block)
            }
        }
        guard length == entry.size else { throw wrongSize(entry) }
        guard inflater.unusedCount == 0, place == end else { throw .damaged(entry.name, "ends before its data does") }
        return sum
    }

    private func inflate(_ entry: ZipEntry) throws(ArchiveError) -> Int {
        do throws(ArchiveError) {
            return try inflater.inflate(into: output)
        } catch {
            guard case .bad(let problem) = error else { throw error }
            throw .damaged(entry.name, detail: problem.detail)
        }
    }

    private func wrongSize(_ entry: ZipEntry) -> ArchiveError {
        .damaged(entry.name, "does not have the \(entry.size) bytes that the archive's directory says")
    }

    /// Checksum and sizes after the data, with or without a mark, in 32 or 64 bits (APPNOTE 4.3.9); gives how many
    /// bytes they take.
    private func checkDescriptor(of entry: ZipEntry, at place: UInt64) throws(ArchiveError) -> UInt64 {
        guard entry.hasDescriptor else { return 0 }
        let count = Int(min(24, entry.limit - place))
        let bytes = count == 0 ? nil : try bytes(at: place, atLeast: count, of: entry)
        let fields = Fields(bytes.map { Array($0.prefix(count)) } ?? [])
        for start in fields.u32(0) == 0x0807_4B50 ? [4, 0] : [0] where fields.u32(start) == entry.checksum {
            if fields.u64(start + 4) == entry.compressedSize, fields.u64(start + 12) == entry.size {
                return UInt64(start) + 20
            }
            if fields.u32(start + 4).map(UInt64.init) == entry.compressedSize,
                fields.u32(start + 8).map(UInt64.init) == entry.size
            {
                return UInt64(start) + 12
            }
        }
        throw .damaged(entry.name, "is followed by a checksum or size that differs from the archive's directory")
    }

    /// Bytes from a place on, at least so many; nil where the file ends before. Entries lie one after the other, so
    /// mostly what was read for one holds the next ones too.
    private func bytes(
        at place: UInt64, atLeast least: Int, of entry: ZipEntry
    ) throws(ArchiveError) -> UnsafeRawBufferPointer? {
        if place >= start, place - start <= UInt64(count), count - Int(place - start) >= least {
            return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(input)[Int(place - start)..<count])
        }
        guard least <= Self.inputSize, place <= UInt64(Int64.max) else { return nil }
        start = place
        count = 0
        while count < least {
            let got = pread(
                descriptor, input.baseAddress.map { $0 + count }, input.count - count, off_t(place) + off_t(count))
            if got == 0 { return nil }
            if got > 0 {
                count += got
            } else if errno != EINTR {
                throw .system(action: "read", entry: nil, errno: Errno(rawValue: errno))
            }
        }
        return UnsafeRawBufferPointer(rebasing: UnsafeRawBufferPointer(input)[..<count])
    }
}
