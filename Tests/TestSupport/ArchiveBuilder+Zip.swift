/// Writes zip archives whose entries are stored as they are (APPNOTE 6.3), also such as no program would make.
package struct ZipBuilder: Sendable {
    /// What an entry says of itself that is not so, or that few programs write.
    package struct Oddity: Sendable {
        /// Bit 0 encrypted, bit 3 sizes after the data, bit 11 the name is UTF-8.
        package var flags = 0
        /// The compression's number; the content is not compressed by it.
        package var method = 0
        /// Which system made it: 3 Unix, 0 MS-DOS.
        package var system = 3
        /// A checksum that is not the content's.
        package var checksum: UInt32?
        /// A size that is not the content's.
        package var size: Int?
        /// What the header before the data says instead of the directory's name.
        package var localName: [UInt8]?
        /// What the header before the data says instead of the directory's checksum.
        package var localChecksum: UInt32?
        /// Where the directory says that the entry is: another one's bytes.
        package var offset: Int?
        /// What follows the data: checksum and sizes, right if bit 3 is set and nothing is said here.
        package var descriptor: [UInt8]?
        /// Sizes and place in 64 bits.
        package var isWide = false
        /// What the 64-bit sizes before the data say instead of the right ones.
        package var localWide: (size: Int, compressed: Int)?
        /// Extra fields of the directory, and of the header before the data.
        package var extra: [UInt8] = []
        package var localExtra: [UInt8] = []
        /// What MS-DOS knows of a file: 0x10 for a folder.
        package var attributes = 0
        /// Whether the directory says nothing of it.
        package var isUnlisted = false

        /// Nothing odd.
        package init() {}
    }

    /// The archive so far, without its directory.
    package private(set) var bytes: [UInt8] = []
    private var directory: [UInt8] = []
    private var count = 0

    /// An archive without entries.
    package init() {}

    /// Adds bytes that are no entry, before the next one.
    package mutating func fill(_ filling: [UInt8]) { bytes += filling }

    /// The name in UTF-8 as an extra field has it (Info-ZIP); `stored`: the name that it stands for.
    package static func unicodeName(_ name: String, for stored: [UInt8]) -> [UInt8] {
        little(0x7075, 2) + little(name.utf8.count + 5, 2) + [1] + little(Int(CRC32Sum.of(stored)), 4)
            + Array(name.utf8)
    }

    /// A header that stands for no entry, as Android's zipflinger fills up room; of so many bytes.
    package static func padding(_ count: Int, name: String = "") -> [UInt8] {
        let extra = count - 30 - name.utf8.count
        return [0x50, 0x4B, 3, 4] + [UInt8](repeating: 0, count: 22) + little(name.utf8.count, 2) + little(extra, 2)
            + Array(name.utf8) + [UInt8](repeating: 0, count: extra)
    }

    /// Adds an entry; `mode` with the file type's bits, as Unix has them.
    package mutating func add(
        _ name: [UInt8], content: [UInt8] = [], mode: Int = 0o100644, _ oddity: Oddity = Oddity()
    ) {
        let start = bytes.count
        let sum = Int(oddity.checksum ?? CRC32Sum.of(content))
        let size = oddity.size ?? content.count
        func header(sum: Int, name: [UInt8], extra: [UInt8]) -> [UInt8] {
            let shown = oddity.isWide ? (0xFFFF_FFFF, 0xFFFF_FFFF) : (content.count, size)
            return Self.little(oddity.flags, 2) + Self.little(oddity.method, 2) + Self.little(0, 2)
                + Self.little(0x5A21, 2) + Self.little(sum, 4) + Self.little(shown.0, 4) + Self.little(shown.1, 4)
                + Self.little(name.count, 2) + Self.little(extra.count, 2)
        }
        let wide = Self.little(size, 8) + Self.little(content.count, 8)
        let localWide = oddity.localWide.map { Self.little($0.size, 8) + Self.little($0.compressed, 8) } ?? wide
        let localExtra =
            oddity.localExtra + (oddity.isWide ? Self.little(1, 2) + Self.little(16, 2) + localWide : [])
        let localName = oddity.localName ?? name
        bytes += [0x50, 0x4B, 3, 4] + Self.little(20, 2)
        bytes += header(sum: oddity.localChecksum.map { Int($0) } ?? sum, name: localName, extra: localExtra)
        bytes += localName + localExtra + content
        if oddity.flags & 8 != 0 {
            bytes +=
                oddity.descriptor
                ?? [0x50, 0x4B, 7, 8] + Self.little(sum, 4) + Self.little(content.count, 4) + Self.little(size, 4)
        }
        if oddity.isUnlisted { return }
        let offset = oddity.offset ?? start
        let extra =
            oddity.extra
            + (oddity.isWide ? Self.little(1, 2) + Self.little(24, 2) + wide + Self.little(offset, 8) : [])
        directory += [0x50, 0x4B, 1, 2, 20, UInt8(oddity.system)] + Self.little(20, 2)
        directory += header(sum: sum, name: name, extra: extra)
        directory +=
            Self.little(0, 2) + Self.little(0, 2) + Self.little(0, 2) + Self.little(mode << 16 | oddity.attributes, 4)
        directory += Self.little(oddity.isWide ? 0xFFFF_FFFF : offset, 4) + name + extra
        count += 1
    }

    /// The same with text.
    package mutating func add(
        _ name: String, content: String = "", mode: Int = 0o100644, _ oddity: Oddity = Oddity()
    ) {
        add(Array(name.utf8), content: Array(content.utf8), mode: mode, oddity)
    }

    /// The archive with its directory.
    package var finished: [UInt8] { finished() }

    /// The same with a comment, another number of entries than there are, or the number of a part of several. `gap`:
    /// what lies between the directory and the record of the end.
    package func finished(comment: String = "", claimed: Int? = nil, disk: Int = 0, gap: [UInt8] = []) -> [UInt8] {
        bytes + directory + gap + [0x50, 0x4B, 5, 6] + Self.little(disk, 2) + Self.little(disk, 2)
            + Self.little(claimed ?? count, 2) + Self.little(claimed ?? count, 2)
            + Self.little(directory.count, 4) + Self.little(bytes.count, 4) + Self.little(comment.utf8.count, 2)
            + Array(comment.utf8)
    }

    /// The archive as large ones end: numbers of 64 bits (APPNOTE 4.3.14).
    package var finishedWide: [UInt8] { finishedWide() }

    /// The same with something between the directory and the records of the end, or between these; and with what the
    /// short record says of the number of entries.
    package func finishedWide(gap: [UInt8] = [], within: [UInt8] = [], claimed: Int = 0xFFFF) -> [UInt8] {
        let place = bytes.count + directory.count + gap.count
        var end: [UInt8] = [0x50, 0x4B, 6, 6] + Self.little(44, 8) + Self.little(45, 2) + Self.little(45, 2)
        end += Self.little(0, 4) + Self.little(0, 4) + Self.little(count, 8) + Self.little(count, 8)
        end += Self.little(directory.count, 8) + Self.little(bytes.count, 8)
        end += within + [0x50, 0x4B, 6, 7] + Self.little(0, 4) + Self.little(place, 8) + Self.little(1, 4)
        end += [0x50, 0x4B, 5, 6, 0, 0, 0, 0] + Self.little(claimed, 2) + Self.little(claimed, 2)
        end += [UInt8](repeating: 0xFF, count: 8) + [0, 0]
        return bytes + directory + gap + end
    }

    private static func little(_ value: Int, _ count: Int) -> [UInt8] {
        (0..<count).map { UInt8(truncatingIfNeeded: value >> ($0 * 8)) }
    }
}
