/// Goes over the headers of a rar, for what libarchive does not say: that it is a part or encrypted, and the checksums
/// of stored files, which it reads past.
enum RarHeaders {
    /// The checksums of an archive's entries, one after the other, in the old format (the one of RAR 1.5 to 4).
    static func checksums(_ input: ArchiveInput) throws(ArchiveError) -> [UInt32] {
        var checksums: [UInt32] = []
        var place: Int64 = 7
        while place < input.size {
            let header = Fields(try input.read(48, at: place))
            guard let type = header.u8(2), let flags = header.u16(3), let length = header.u16(5) else {
                throw .early()
            }
            guard length >= 7 else { throw .damaged(nil, detail: "a header is too short") }
            var data: UInt64 = flags & 0x8000 != 0 ? UInt64(header.u32(7) ?? 0) : 0
            switch type {
            case 0x73:
                if flags & 0x80 != 0 { throw .encrypted(nil, isZip: false) }
                if flags & 1 != 0 { throw .part() }
            // A file; and what belongs to the archive but is laid out as one.
            case 0x74, 0x7A:
                guard let packed = header.u32(7), let sum = header.u32(16), let count = header.u16(26) else {
                    throw .early()
                }
                let isLarge = flags & 0x100 != 0
                data = UInt64(packed) | (isLarge ? UInt64(header.u32(32) ?? 0) << 32 : 0)
                if type == 0x7A { break }
                let name = try input.read(Int(count), at: place + (isLarge ? 40 : 32)).prefix { $0 != 0 }
                if flags & 4 != 0 { throw .encrypted(Array(name), isZip: false) }
                if flags & 3 != 0 { throw .part(Array(name)) }
                checksums.append(sum)
                try input.budget.expect(entries: Int64(checksums.count))
            case 0x7B: return checksums
            default: break
            }
            place = try input.place(after: place, UInt64(length), data)
        }
        throw .unended
    }

    /// Throws where an archive of the new format (RAR 5) is a part or encrypted; what else is wrong, others find out.
    static func refuseUnreadable(_ input: ArchiveInput) throws(ArchiveError) {
        var place: Int64 = 8
        while place < input.size {
            // Behind a checksum come the length of the rest, the type, flags, and where they say so two more lengths.
            var header = Fields(try input.read(1024, at: place), from: 4)
            guard let length = header.variable(), length > 0, length <= 2 << 20 else { return }
            let begin = header.next
            guard let type = header.variable(), let flags = header.variable() else { return }
            let extra = flags & 1 != 0 ? header.variable() ?? 0 : 0
            let data = flags & 2 != 0 ? header.variable() ?? 0 : 0
            switch type {
            case 1: if let kind = header.variable(), kind & 1 != 0 { throw .part() }
            case 2:
                guard let name = header.rar5Name() else { return }
                if flags & 0x18 != 0 { throw .part(name) }
                let end = place + Int64(begin) + Int64(length)
                if extra <= length, try isEncrypted(input, end - Int64(extra), Int(extra)) {
                    throw .encrypted(name, isZip: false)
                }
            case 4: throw .encrypted(nil, isZip: false)
            case 5: return
            default: break
            }
            place = try input.place(after: place, UInt64(begin) + length, data)
        }
    }

    /// Whether one of the records behind a file's header says how it is encrypted.
    private static func isEncrypted(_ input: ArchiveInput, _ place: Int64, _ count: Int) throws(ArchiveError) -> Bool {
        var records = Fields(try input.read(count, at: place))
        while let length = records.variable(), length > 0, length <= UInt64(count) {
            let begin = records.next
            if records.variable() == 1 { return true }
            records.next = begin + Int(length)
        }
        return false
    }
}

extension ArchiveInput {
    /// Where what has these two lengths ends: within the file, or the archive is not whole.
    fileprivate func place(after place: Int64, _ header: UInt64, _ data: UInt64) throws(ArchiveError) -> Int64 {
        let (sum, overflow) = header.addingReportingOverflow(data)
        guard !overflow, sum <= UInt64(max(0, size - place)) else { throw .early() }
        return place + Int64(sum)
    }
}

extension Fields {
    /// The name in a file's header, from behind the lengths on.
    fileprivate mutating func rar5Name() -> [UInt8]? {
        guard let flags = variable(), variable() != nil, variable() != nil else { return nil }
        // The time and the checksum, where they are given.
        next += (flags & 2 != 0 ? 4 : 0) + (flags & 4 != 0 ? 4 : 0)
        guard variable() != nil, variable() != nil, let count = variable(), count <= 4096 else { return nil }
        return bytes(Int(count))
    }
}
