/// The extra fields of a zip's header that mean something here (APPNOTE 4.5, 4.6).
struct ZipExtra {
    /// What did not fit into 32 bits, in the order of the header (zip64).
    private(set) var wide: Fields?
    /// The time in UTC (Info-ZIP's "extended timestamp").
    private(set) var seconds: Int32?
    /// The name in UTF-8, and the checksum of the one in the header that it stands for (Info-ZIP's "Unicode path").
    private var unicode: (sum: UInt32, name: [UInt8])?

    /// Nil where a field is longer than what is left for it. A few bytes that are no field are what programs fill up
    /// with.
    init?(_ bytes: UnsafeRawBufferPointer) {
        var place = 0
        while bytes.count - place >= 4 {
            func u16(_ offset: Int) -> UInt16 {
                bytes.loadUnaligned(fromByteOffset: place + offset, as: UInt16.self).littleEndian
            }
            let end = place + 4 + Int(u16(2))
            guard end <= bytes.count else { return nil }
            let content = bytes[(place + 4)..<end]
            switch u16(0) {
            case 1: wide = Fields(Array(content))
            case 0x5455 where content.count >= 5 && content[content.startIndex] & 1 != 0:
                seconds = bytes.loadUnaligned(fromByteOffset: place + 5, as: Int32.self).littleEndian
            case 0x7075 where content.count >= 5 && content[content.startIndex] == 1:
                let sum = bytes.loadUnaligned(fromByteOffset: place + 5, as: UInt32.self).littleEndian
                unicode = (sum, Array(content.dropFirst(5)))
            default: break
            }
            place = end
        }
    }

    /// The name in UTF-8, if it is, and was made for this one: programs that rename an entry leave the field as it was.
    func name(for stored: [UInt8]) -> [UInt8]? {
        guard let unicode, stored.withUnsafeBytes({ CRC32.of($0, after: 0) }) == unicode.sum,
            String(validating: unicode.name, as: UTF8.self) != nil
        else { return nil }
        return unicode.name
    }
}
