/// Whether a format, as this archive uses it, has a checksum for every byte of content. Those that there are, are
/// checked while unpacking; this only looks for what is not covered. docs/archives.md has the table.
enum IntegrityCheck {
    /// What can be promised of an archive that unpacks without an error, and why it is no more.
    static func expected(
        of input: ArchiveInput, _ format: ArchiveFormat
    ) throws(ArchiveError) -> (integrity: Integrity, why: String) {
        switch format {
        case .container(let container):
            switch container {
            // CRC-32 for every file; CRC-16.
            case .zip, .rar, .lha: return (.verified, "")
            // Their checksums may be left out, or stand where the library does not look, and nobody can see here
            // whether they do.
            case .sevenZip, .rar5, .xar, .cab:
                return (.unverifiable, "\(container.rawValue) does not require checksums of its files")
            case .tar, .cpio, .ar, .iso, .rpm:
                return (.unverifiable, "\(container.rawValue) has no checksum of the content")
            }
        case .compressed(let compression):
            switch compression {
            case .gzip, .bzip2, .lzip: return (.verified, "")
            case .lzma, .compress: return (.unverifiable, "\(compression.rawValue) has no checksum")
            case .xz: return verdict(try hasCheckedStreams(xz: input), "xz was used with --check=none")
            case .zstd: return verdict(try hasCheckedFrames(zstd: input), "zstd was used without --check")
            case .lz4:
                return verdict(try hasCheckedFrames(lz4: input), "lz4 was used without a checksum of the content")
            }
        }
    }

    private static func verdict(_ isCovered: Bool, _ why: String) -> (Integrity, String) {
        isCovered ? (.verified, "") : (.unverifiable, why)
    }

    /// Whether every frame has its checksum (RFC 8878, 3.1.1). What is no frame ends the look: it fails to unpack, or
    /// is damaged.
    private static func hasCheckedFrames(zstd input: ArchiveInput) throws(ArchiveError) -> Bool {
        var place: Int64 = 0
        while place < input.size {
            let head = Fields(try input.read(18, at: place))
            if let next = head.afterSkippableFrame(at: place) {
                place = next
                continue
            }
            guard head.u32(0) == 0xFD2F_B528, let flags = head.u8(4) else { return false }
            guard flags & 4 != 0 else { return false }
            let sizeFlag = Int(flags >> 6)
            let isSingle = flags & 0x20 != 0
            let sizeBytes = sizeFlag == 0 ? (isSingle ? 1 : 0) : 1 << sizeFlag
            place += 5 + (isSingle ? 0 : 1) + [0, 1, 2, 4][Int(flags & 3)] + Int64(sizeBytes)
            while true {
                guard let block = Fields(try input.read(3, at: place)).u24(0) else { return false }
                // A block of one repeated byte has its length where others have their size (type 1).
                place += 3 + (block >> 1 & 3 == 1 ? 1 : Int64(block >> 3))
                if block & 1 != 0 { break }
            }
            place += 4
        }
        return true
    }

    /// The same for lz4 (LZ4 frame format 1.6); its old format has none.
    private static func hasCheckedFrames(lz4 input: ArchiveInput) throws(ArchiveError) -> Bool {
        var place: Int64 = 0
        while place < input.size {
            let head = Fields(try input.read(8, at: place))
            if let next = head.afterSkippableFrame(at: place) {
                place = next
                continue
            }
            // The library takes what begins no frame for the end, and swallows it.
            if let magic = head.u32(0), magic != 0, magic != 0x184D_2204, magic != 0x184C_2102 {
                throw .trailing(input.size - place)
            }
            guard head.u32(0) == 0x184D_2204, let flags = head.u8(4), flags & 4 != 0 else { return false }
            place += 7 + (flags & 8 != 0 ? 8 : 0) + (flags & 1 != 0 ? 4 : 0)
            while true {
                guard let size = Fields(try input.read(4, at: place)).u32(0) else { return false }
                place += 4
                if size == 0 { break }
                place += Int64(size & 0x7FFF_FFFF) + (flags & 0x10 != 0 ? 4 : 0)
            }
            place += 4
        }
        return true
    }

    /// Whether every stream names a check (The .xz File Format 1.2.0, 2.1): read from the end, where each says how long
    /// it is.
    private static func hasCheckedStreams(xz input: ArchiveInput) throws(ArchiveError) -> Bool {
        var end = input.size
        while end > 0 {
            // Streams are filled up with zeros, by four.
            end -= (end - (try input.zeros(before: end))) / 4 * 4
            guard end >= 32 else { return false }
            let footer = Fields(try input.read(12, at: end - 12))
            guard footer.u8(10) == UInt8(ascii: "Y"), footer.u8(11) == UInt8(ascii: "Z"), let stored = footer.u32(4),
                let check = footer.u8(9), check & 0x0F != 0
            else { return false }
            let indexSize = (Int64(stored) + 1) * 4
            let indexStart = end - 12 - indexSize
            // One of millions of blocks; others are as good as unchecked.
            guard indexStart >= 12, indexSize <= 16 << 20 else { return false }
            var index = Fields(try input.read(Int(indexSize), at: indexStart))
            guard let blocks = index.xzBlocksLength(), blocks <= indexStart - 12 else { return false }
            end = indexStart - blocks - 12
        }
        return end == 0
    }
}

extension Fields {
    /// The length of all blocks that an index of xz lists, padding included.
    fileprivate mutating func xzBlocksLength() -> Int64? {
        guard u8(0) == 0 else { return nil }
        next = 1
        guard let count = variable() else { return nil }
        var sum: Int64 = 0
        for _ in 0..<count {
            guard let unpadded = variable(), variable() != nil, unpadded < 1 << 60 else { return nil }
            let (total, overflow) = sum.addingReportingOverflow(Int64(unpadded + 3) & ~3)
            if overflow { return nil }
            sum = total
        }
        return sum
    }
}
