/// One block of an .xz file (The .xz File Format 1.2.0, 3), which can be decompressed without those before it.
struct XZBlock: Sendable, Equatable {
    /// Where it begins in the file.
    let start: Int64
    /// Its length without the zeros that fill it up to a multiple of 4.
    let unpadded: Int64
    /// What comes out of it, by the file's own index.
    let size: Int64
    /// The check that its stream names.
    let check: UInt8

    /// Its length in the file.
    var length: Int64 { (unpadded + 3) & ~3 }

    /// Those of more than this many bytes of index, or of more blocks, are not listed.
    private static let mostIndex: Int64 = 1 << 20
    private static let mostBlocks = 1 << 16
    /// CRC-32, CRC-64 and SHA-256: what every liblzma compares.
    private static let checks: Set<UInt8> = [1, 4, 10]
    private static let magic: [UInt8] = [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]

    /// All blocks of a file, in their order; nil where the file is not as xz makes it, or where a block is empty or has
    /// no check: who reads it from its beginning to its end says what is wrong.
    static func all(in input: ArchiveInput) throws(ArchiveError) -> [XZBlock]? {
        var end = input.size
        var blocks: [XZBlock] = []
        while end > 0 {
            // Streams are filled up with zeros, by four.
            end -= (end - (try input.zeros(before: end))) / 4 * 4
            guard let stream = try stream(to: end, in: input) else { return nil }
            // From the last to the first.
            blocks += stream.reversed()
            guard blocks.count <= mostBlocks else { return nil }
            end = stream[0].start - 12
        }
        return blocks.reversed()
    }

    /// The blocks of the stream that ends there: its footer leads to its index, and that to its header.
    private static func stream(to end: Int64, in input: ArchiveInput) throws(ArchiveError) -> [XZBlock]? {
        guard end >= 32 else { return nil }
        let footer = try input.read(12, at: end - 12)
        guard footer.count == 12, footer.suffix(2) == [0x59, 0x5A], sum(footer[4..<10]) == Fields(footer).u32(0),
            let words = Fields(footer).u32(4), footer[8] == 0, checks.contains(footer[9])
        else { return nil }
        let indexLength = (Int64(words) + 1) * 4
        let indexStart = end - 12 - indexLength
        guard indexLength <= mostIndex, indexStart >= 12 else { return nil }
        let index = try input.read(Int(indexLength), at: indexStart)
        guard let sizes = records(of: index), !sizes.isEmpty else { return nil }
        var start = indexStart
        for record in sizes {
            guard record.unpadded < start, record.size > 0 else { return nil }
            start -= (record.unpadded + 3) & ~3
        }
        guard start >= 12, try input.read(12, at: start - 12) == header(check: footer[9]) else {
            return nil
        }
        return sizes.map { record in
            let block = XZBlock(start: start, unpadded: record.unpadded, size: record.size, check: footer[9])
            start += block.length
            return block
        }
    }

    /// What an index lists, if its checksum is right.
    private static func records(of index: [UInt8]) -> [(unpadded: Int64, size: Int64)]? {
        var fields = Fields(index, from: 1)
        guard index.first == 0, sum(index.dropLast(4)) == fields.u32(index.count - 4), let count = fields.variable()
        else { return nil }
        var records: [(unpadded: Int64, size: Int64)] = []
        for _ in 0..<count {
            guard let unpadded = fields.variable().flatMap({ Int64(exactly: $0) }), unpadded >= 5,
                let size = fields.variable().flatMap({ Int64(exactly: $0) })
            else { return nil }
            records.append((unpadded, size))
        }
        guard index.count - 4 - fields.next < 4, index[fields.next...].dropLast(4).allSatisfy({ $0 == 0 }) else {
            return nil
        }
        return records
    }

    /// How much of what came before it needs at hand, as its header says; nil where it is not LZMA2 alone.
    func window(in input: ArchiveInput) throws(ArchiveError) -> Int64? {
        var header = Fields(try input.read(64, at: start))
        // One filter; its sizes may be told.
        guard let words = header.u8(0), words > 0, let flags = header.u8(1), flags & 0x3F == 0 else { return nil }
        header.next = 2
        for isTold in [flags & 0x40 != 0, flags & 0x80 != 0] where isTold { _ = header.variable() }
        guard header.variable() == 0x21, header.variable() == 1, let bits = header.u8(header.next), bits < 40 else {
            return nil
        }
        return Int64(2 | bits & 1) << (Int64(bits) / 2 + 11)
    }

    /// The header of a stream.
    private static func header(check: UInt8) -> [UInt8] { magic + [0, check] + bytes(sum([0, check])) }

    /// What makes it a whole file if it is put before and behind it: a stream of one block, whose index says of it what
    /// the file's own does.
    var frame: (before: [UInt8], after: [UInt8]) {
        var index: [UInt8] = [0, 1]
        for var number in [unpadded, size] {
            while number > 0x7F {
                index.append(UInt8(number & 0x7F) | 0x80)
                number >>= 7
            }
            index.append(UInt8(number))
        }
        index += [UInt8](repeating: 0, count: (4 - index.count % 4) % 4)
        index += Self.bytes(Self.sum(index[...]))
        let footer = Self.bytes(UInt32(index.count / 4 - 1)) + [0, check]
        return (Self.header(check: check), index + Self.bytes(Self.sum(footer[...])) + footer + [0x59, 0x5A])
    }

    private static func sum(_ bytes: ArraySlice<UInt8>) -> UInt32 {
        Array(bytes).withUnsafeBytes { CRC32.of($0, after: 0) }
    }

    private static func bytes(_ number: UInt32) -> [UInt8] {
        (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) }
    }
}
