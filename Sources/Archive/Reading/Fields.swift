/// Little-endian numbers in a few bytes of a file.
struct Fields {
    private let bytes: [UInt8]
    /// Where numbers of any length are read.
    var next: Int

    init(_ bytes: [UInt8], from next: Int = 0) {
        self.bytes = bytes
        self.next = next
    }

    /// So many bytes, from the next one on, as far as there are.
    func bytes(_ count: Int) -> [UInt8] { next < bytes.count ? Array(bytes[next...].prefix(count)) : [] }

    func u8(_ offset: Int) -> UInt8? { bytes.indices.contains(offset) ? bytes[offset] : nil }

    func u16(_ offset: Int) -> UInt16? { number(offset, 2).map { UInt16($0) } }

    func u24(_ offset: Int) -> UInt32? { number(offset, 3).map { UInt32($0) } }

    func u32(_ offset: Int) -> UInt32? { number(offset, 4).map { UInt32($0) } }

    func u64(_ offset: Int) -> UInt64? { number(offset, 8) }

    private func number(_ offset: Int, _ count: Int) -> UInt64? {
        guard offset >= 0, offset + count <= bytes.count else { return nil }
        return (0..<count).reduce(0) { $0 | UInt64(bytes[offset + $1]) << (8 * UInt64($1)) }
    }

    /// Where a frame ends that is to be skipped (zstd and lz4 share them); nil where this is none.
    func afterSkippableFrame(at place: Int64) -> Int64? {
        guard let magic = u32(0), magic & 0xFFFF_FFF0 == 0x184D_2A50, let size = u32(4) else { return nil }
        return place + 8 + Int64(size)
    }

    /// A number of 7 bits to the byte, the lowest first.
    mutating func variable() -> UInt64? {
        var value: UInt64 = 0
        for shift in stride(from: UInt64(0), to: 63, by: 7) {
            guard let byte = u8(next) else { return nil }
            next += 1
            value |= UInt64(byte & 0x7F) << shift
            if byte & 0x80 == 0 { return value }
        }
        return nil
    }
}
