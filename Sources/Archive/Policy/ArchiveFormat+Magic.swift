/// How formats are told apart by the bytes they begin with. libarchive could guess as well, but only after building a
/// reader for every file that passes by, and it takes plain text for an archive (mtree).
extension ArchiveFormat {
    /// What a header before an entry's data begins with.
    static let zipEntryMark: [UInt8] = [0x50, 0x4B, 3, 4]

    /// Bytes at an offset that only one format has there.
    private struct Magic {
        let offset: Int
        let bytes: [UInt8]
        let format: ArchiveFormat
        /// What else must hold, where the bytes alone are too few to be sure.
        let check: @Sendable (UnsafeRawBufferPointer) -> Bool

        init(
            _ format: ArchiveFormat, at offset: Int = 0, _ bytes: [UInt8],
            check: @escaping @Sendable (UnsafeRawBufferPointer) -> Bool = { _ in true }
        ) {
            self.offset = offset
            self.bytes = bytes
            self.format = format
            self.check = check
        }

        init(_ format: ArchiveFormat, _ text: String) { self.init(format, Array(text.utf8)) }

        func matches(_ head: UnsafeRawBufferPointer) -> Bool {
            guard head.count >= offset + bytes.count else { return false }
            for index in bytes.indices where head[offset + index] != bytes[index] { return false }
            return check(head)
        }
    }

    private static let magics: [Magic] = [
        Magic(.container(.zip), [0x50, 0x4B, 3, 4]),
        Magic(.container(.zip), [0x50, 0x4B, 5, 6]),
        Magic(.container(.zip), [0x50, 0x4B, 7, 8]),
        // What was to be split and is in one piece after all (APPNOTE 8.5.4).
        Magic(.container(.zip), Array("PK00".utf8) + [0x50, 0x4B, 3, 4]),
        Magic(.container(.sevenZip), [0x37, 0x7A, 0xBC, 0xAF, 0x27, 0x1C]),
        Magic(.container(.rar), [0x52, 0x61, 0x72, 0x21, 0x1A, 7, 0]),
        Magic(.container(.rar5), [0x52, 0x61, 0x72, 0x21, 0x1A, 7, 1, 0]),
        Magic(.container(.xar), "xar!"),
        Magic(.container(.cab), Array("MSCF".utf8) + [0, 0, 0, 0]),
        Magic(.container(.ar), "!<arch>\n"),
        Magic(.container(.rpm), [0xED, 0xAB, 0xEE, 0xDB]),
        Magic(.container(.cpio), Array("070701".utf8), check: { hasDigits($0, 110, hexadecimal: true) }),
        Magic(.container(.cpio), Array("070702".utf8), check: { hasDigits($0, 110, hexadecimal: true) }),
        Magic(.container(.cpio), Array("070707".utf8), check: { hasDigits($0, 76, hexadecimal: false) }),
        Magic(.container(.cpio), [0xC7, 0x71], check: { hasBinaryCpioHeader($0, bigEndian: false) }),
        Magic(.container(.cpio), [0x71, 0xC7], check: { hasBinaryCpioHeader($0, bigEndian: true) }),
        Magic(.compressed(.gzip), [0x1F, 0x8B, 8], check: { $0.count >= 10 && $0[3] & 0xE0 == 0 }),
        Magic(.compressed(.bzip2), Array("BZh".utf8), check: hasBzip2Block),
        Magic(.compressed(.xz), [0xFD, 0x37, 0x7A, 0x58, 0x5A, 0]),
        Magic(.compressed(.zstd), [0x28, 0xB5, 0x2F, 0xFD]),
        Magic(.compressed(.lz4), [0x04, 0x22, 0x4D, 0x18]),
        Magic(.compressed(.lz4), [0x02, 0x21, 0x4C, 0x18]),
        Magic(.compressed(.lzip), "LZIP\u{1}"),
        Magic(.compressed(.compress), [0x1F, 0x9D], check: hasCompressFlags),
        Magic(.compressed(.lzma), [0x5D, 0, 0], check: hasLzmaHeader),
        Magic(.container(.lha), at: 2, Array("-l".utf8), check: hasLhaMethod),
    ]

    /// The format that these first bytes (512 or more, where there are as many) belong to, or nil for none.
    static func of(head: UnsafeRawBufferPointer) -> ArchiveFormat? {
        if let magic = magics.first(where: { $0.matches(head) }) { return magic.format }
        if isTarHeader(head) { return .container(.tar) }
        return skippableFrame(head)
    }
}
