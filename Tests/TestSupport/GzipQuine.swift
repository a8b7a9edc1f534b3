/// A gzip file that unpacks to itself, byte for byte: who undoes compressions until there is none is never done.
///
/// Deflate has two instructions: print what follows (a stored block), and repeat what was printed (a copy). A program
/// of both that prints its own text is put together by having each piece print what the pieces before it still owe, as
/// Russ Cox showed ("Zip Files All The Way Down", 2010). Every instruction takes five bytes here.
package enum GzipQuine {
    /// The file.
    package static let bytes: [UInt8]? = {
        // Its checksum stands in it twice. Other times in the header give other equations; few have no solution.
        for time in UInt8(1)...20 {
            if let sum = checksum(time) { return file(time, checksum: sum) }
        }
        return nil
    }()

    private static func file(_ time: UInt8, checksum: UInt32) -> [UInt8] {
        // 15 bytes, so that a copy of them and of one instruction has the length of four instructions.
        let head: [UInt8] = [0x1F, 0x8B, 8, 8, time, 0, 0, 0, 0, 3] + Array("self".utf8) + [0]
        let length = 206
        let tail =
            [1, 0, 0, 0xFF, 0xFF] + little(checksum, 4)
            + little(UInt32(length), 4)
        let (again, one, four) = (copy(10, at: 20), print(5), print(20))
        let (nothing, last, lastAgain) = (print(0), print(5 + tail.count), copy(9, at: 18))
        var file = head + print(20) + head + print(20)
        file += again + one + again + one + one
        file += four + again + one + one + four + again
        file += four + again + four + again + four + again
        file += four + again + nothing + nothing + last + again + nothing + nothing
        file += last + lastAgain + tail + lastAgain + tail
        precondition(file.count == length, "it has \(file.count) bytes")
        return file
    }

    /// A stored block's header.
    private static func print(_ count: Int) -> [UInt8] {
        [0] + little(UInt32(count), 2) + little(UInt32(0xFFFF - count), 2)
    }

    /// A block of fixed codes with two copies of `length` bytes, of 3 to 10, from 17 to 24 bytes before: 40 bits.
    private static func copy(_ length: Int, at distance: Int) -> [UInt8] {
        var bits: UInt64 = 0
        var count: UInt64 = 0
        // Codes have their highest bit first, numbers their lowest (RFC 1951, 3.1.1).
        func put(_ value: Int, _ width: Int, isCode: Bool) {
            for index in 0..<width {
                let bit = UInt64(value >> (isCode ? width - 1 - index : index) & 1)
                bits |= bit << count
                count += 1
            }
        }
        put(0, 1, isCode: false)
        put(1, 2, isCode: false)
        for _ in 0..<2 {
            put(length - 2, 7, isCode: true)
            put(8, 5, isCode: true)
            put(distance - 17, 3, isCode: false)
        }
        put(0, 7, isCode: true)
        precondition(count == 40)
        return (0..<5).map { UInt8(truncatingIfNeeded: bits >> (8 * $0)) }
    }

    /// The checksum that the file has with this very checksum in it. A CRC is linear but for a constant, so this is 32
    /// equations over bits; nil where they have no solution.
    private static func checksum(_ time: UInt8) -> UInt32? {
        let constant = CRC32Sum.of(file(time, checksum: 0))
        // Row by row: the bits of x that make up a bit of CRC(x) ^ x, and what that bit must be.
        var rows = (0..<32).map { bit in UInt64(constant >> UInt32(bit) & 1) << 32 }
        for variable in 0..<32 {
            let unit = UInt32(1) << UInt32(variable)
            let column = CRC32Sum.of(file(time, checksum: unit)) ^ constant ^ unit
            for bit in 0..<32 { rows[bit] |= UInt64(column >> UInt32(bit) & 1) << UInt64(variable) }
        }
        for variable in 0..<32 {
            guard let pivot = (variable..<32).first(where: { rows[$0] >> UInt64(variable) & 1 == 1 }) else {
                return nil
            }
            rows.swapAt(variable, pivot)
            for row in 0..<32 where row != variable && rows[row] >> UInt64(variable) & 1 == 1 {
                rows[row] ^= rows[variable]
            }
        }
        return (0..<32).reduce(UInt32(0)) { $0 | UInt32(rows[$1] >> 32 & 1) << UInt32($1) }
    }

    private static func little(_ value: UInt32, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
    }
}

/// CRC-32 as zip and gzip have it.
package enum CRC32Sum {
    private static let table: [UInt32] = (0..<256).map { byte in
        (0..<8).reduce(UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
    }

    /// The checksum of bytes. In plain loops: tests are not optimised, and make much of this.
    package static func of(_ bytes: [UInt8]) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            var sum = UInt32.max
            bytes.withUnsafeBufferPointer { bytes in
                var index = 0
                while index < bytes.count {
                    sum = table[Int((sum ^ UInt32(bytes[index])) & 0xFF)] ^ sum >> 8
                    index += 1
                }
            }
            return ~sum
        }
    }
}
