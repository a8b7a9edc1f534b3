import CISAL

/// 7z: its beginning is written last and says where the header at the end lies, each with a CRC.
enum SevenZipFile: FormatReader {
    private static let start: [UInt8] = [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]
    private static let startSize: Int64 = 32
    /// The largest header whose CRC is compared.
    private static let largestHeader: Int64 = 16 << 20

    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard try content.has(start, at: 0) else { return nil }
        let places = Array(try content.bytes(12, 20))
        guard places.count == 20 else { return .lacks(.bytes(startSize - content.size)) }
        guard try content.little(8, 4) == Int64(crc(places)) else { return .lacks(.beginning) }
        guard let offset = places.little(8), let length = places.dropFirst(8).little(8) else {
            return .lacks(.beginning)
        }
        let end = startSize + offset + length
        guard end <= content.size else { return .lacks(.bytes(end - content.size)) }
        guard length > 0, length <= largestHeader else { return .whole }
        let header = Array(try content.bytes(startSize + offset, Int(length)))
        return places.dropFirst(16).little(4) == Int64(crc(header)) ? .whole : .lacks(.end)
    }

    private static func crc(_ bytes: [UInt8]) -> UInt32 {
        bytes.withUnsafeBufferPointer { crc32_gzip_refl(0, $0.baseAddress, UInt64($0.count)) }
    }
}
