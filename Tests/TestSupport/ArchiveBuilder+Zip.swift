/// Writes zip archives whose entries are stored as they are (APPNOTE 6.3), also such as no program would make.
package struct ZipBuilder: Sendable {
    private var bytes: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    /// An archive without entries.
    package init() {}

    /// Adds an entry; `mode` with the file type's bits, as Unix has them. `flags`: bit 0 encrypted, bit 11 the name is
    /// UTF-8.
    package mutating func add(
        _ name: [UInt8], content: [UInt8] = [], mode: Int = 0o100644, flags: Int = 0, checksum: UInt32? = nil
    ) {
        let offset = bytes.count
        let sum = Int(checksum ?? Self.crc32(content))
        let common =
            Self.little(flags, 2) + Self.little(0, 2) + Self.little(0, 2) + Self.little(0x5A21, 2) + Self.little(sum, 4)
            + Self.little(content.count, 4) + Self.little(content.count, 4) + Self.little(name.count, 2)
            + Self.little(0, 2)
        bytes += [0x50, 0x4B, 3, 4] + Self.little(20, 2) + common + name + content
        directory += [0x50, 0x4B, 1, 2, 20, 3] + Self.little(20, 2) + common
        directory += Self.little(0, 2) + Self.little(0, 2) + Self.little(0, 2) + Self.little(mode << 16, 4)
        directory += Self.little(offset, 4) + name
        count += 1
    }

    /// The same with text.
    package mutating func add(_ name: String, content: String = "", mode: Int = 0o100644) {
        add(Array(name.utf8), content: Array(content.utf8), mode: mode)
    }

    /// The archive with its directory.
    package var finished: [UInt8] {
        bytes + directory + [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + Self.little(count, 2) + Self.little(count, 2)
            + Self.little(directory.count, 4) + Self.little(bytes.count, 4) + [0, 0]
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }

    private static func crc32(_ bytes: [UInt8]) -> UInt32 {
        ~bytes.reduce(UInt32.max) { sum, byte in
            (0..<8).reduce(sum ^ UInt32(byte)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xEDB8_8320 : value >> 1 }
        }
    }
}
