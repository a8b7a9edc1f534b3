/// What must hold beside a magic number, where that is short enough to begin an innocent file.
extension ArchiveFormat {
    /// `-lh5-`, `-lz4-` and their like (LHA header, method field).
    @Sendable static func hasLhaMethod(_ head: UnsafeRawBufferPointer) -> Bool {
        guard head.count >= 21, head[4] == UInt8(ascii: "h") || head[4] == UInt8(ascii: "z") else { return false }
        let level = head[5]
        let known =
            (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(level) || level == UInt8(ascii: "d")
            || level == UInt8(ascii: "s")
        return known && head[6] == UInt8(ascii: "-") && head[20] <= 3
    }

    /// A level from 1 to 9, then the mark of a block or of the stream's end.
    @Sendable static func hasBzip2Block(_ head: UnsafeRawBufferPointer) -> Bool {
        guard head.count >= 10, (UInt8(ascii: "1")...UInt8(ascii: "9")).contains(head[3]) else { return false }
        let mark = Array(head[4..<10])
        return mark == [0x31, 0x41, 0x59, 0x26, 0x53, 0x59] || mark == [0x17, 0x72, 0x45, 0x38, 0x50, 0x90]
    }

    /// 9 to 16 bits per code, and no bit that is reserved.
    @Sendable static func hasCompressFlags(_ head: UnsafeRawBufferPointer) -> Bool {
        head.count >= 3 && head[2] & 0x60 == 0 && (9...16).contains(head[2] & 0x1F)
    }

    /// A dictionary of 2^n or 2^n + 2^(n-1) bytes, and a size that is unknown or below 256 GiB (XZ Utils takes no
    /// other).
    @Sendable static func hasLzmaHeader(_ head: UnsafeRawBufferPointer) -> Bool {
        guard head.count >= 14 else { return false }
        let dictionary = head.loadUnaligned(fromByteOffset: 1, as: UInt32.self).littleEndian
        let size = head.loadUnaligned(fromByteOffset: 5, as: UInt64.self).littleEndian
        let bits = dictionary.nonzeroBitCount
        let adjacent = bits == 2 && dictionary.leadingZeroBitCount + dictionary.trailingZeroBitCount == 30
        return (bits == 1 || adjacent) && dictionary >= 4096 && (size == .max || size < 256 << 30)
    }

    /// The character headers of cpio are digits from end to end, which a table of numbers is not.
    static func hasDigits(_ head: UnsafeRawBufferPointer, _ count: Int, hexadecimal: Bool) -> Bool {
        guard head.count >= count else { return false }
        let highest = UInt8(ascii: hexadecimal ? "9" : "7")
        return head[..<count].allSatisfy { byte in
            (UInt8(ascii: "0")...highest).contains(byte)
                || hexadecimal && (UInt8(ascii: "a")...UInt8(ascii: "f")).contains(byte | 0x20)
        }
    }

    /// The old binary header: 26 bytes in 16-bit words, with a file type that exists and a name of a sensible length.
    static func hasBinaryCpioHeader(_ head: UnsafeRawBufferPointer, bigEndian: Bool) -> Bool {
        guard head.count >= 28 else { return false }
        func word(_ offset: Int) -> UInt16 {
            let value = head.loadUnaligned(fromByteOffset: offset, as: UInt16.self)
            return bigEndian ? value.bigEndian : value.littleEndian
        }
        let type = word(6) & 0o170000
        let nameLength = word(20)
        return [0o100000, 0o040000, 0o120000, 0o020000, 0o060000, 0o010000, 0o140000].contains(type)
            && (2...4096).contains(nameLength) && head[26] != 0
    }

    /// `ustar` in its place, or a header whose checksum is right (the format of Version 7 has no other mark). A header
    /// that says `ustar` with a wrong checksum is a damaged tar, not something else.
    static func isTarHeader(_ head: UnsafeRawBufferPointer) -> Bool {
        guard head.count >= 512 else { return false }
        if head[257..<262].elementsEqual("ustar".utf8) { return true }
        guard head[0] != 0 else { return false }
        var recorded = 0
        var digits = 0
        for byte in head[148..<156] {
            if (UInt8(ascii: "0")...UInt8(ascii: "7")).contains(byte) {
                recorded = recorded * 8 + Int(byte - UInt8(ascii: "0"))
                digits += 1
            } else if byte != 0, byte != UInt8(ascii: " ") {
                return false
            }
        }
        guard digits > 0 else { return false }
        let blanks = 8 * Int(UInt8(ascii: " "))
        var unsigned = blanks
        // Some old programs added the bytes as signed numbers.
        var signed = blanks
        for index in 0..<512 where !(148..<156).contains(index) {
            unsigned += Int(head[index])
            signed += Int(Int8(bitPattern: head[index]))
        }
        return recorded == unsigned || recorded == signed
    }

    /// Zstandard and lz4 streams may begin with frames to be skipped (`0x184D2A50` to `5F`): what follows decides, and
    /// where it cannot be seen, the format that uses them more.
    static func skippableFrame(_ head: UnsafeRawBufferPointer) -> ArchiveFormat? {
        guard head.count >= 8, head[0] & 0xF0 == 0x50, head[1] == 0x2A, head[2] == 0x4D, head[3] == 0x18 else {
            return nil
        }
        let next = 8 + Int(head.loadUnaligned(fromByteOffset: 4, as: UInt32.self).littleEndian)
        guard head.count >= next + 4 else { return .compressed(.zstd) }
        return of(head: UnsafeRawBufferPointer(rebasing: head[next...]))
    }
}
