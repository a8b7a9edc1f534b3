/// Writes rar archives of files that are stored as they are: in the format of RAR 1.5 to 4, and in that of RAR 5.
package struct RarBuilder: Sendable {
    /// What an entry is.
    package enum Kind: Sendable {
        case file, symbolicLink, folder
    }

    /// What is said of the archive as a whole.
    package enum Archive: Sendable {
        case whole, part, encrypted
    }

    private var blocks: [UInt8] = []

    /// An archive without entries.
    package init() {}

    /// Adds an entry of the old format. `checksum`: one that is not the content's.
    package mutating func add(
        _ name: String, _ kind: Kind = .file, content: String = "", checksum: UInt32? = nil, isEncrypted: Bool = false,
        isSplit: Bool = false
    ) {
        let content = Array(content.utf8)
        let mode: UInt32 = kind == .file ? 0o100644 : kind == .folder ? 0o040755 : 0o120777
        let flags: UInt32 = 0x8000 | (isEncrypted ? 4 : 0) | (isSplit ? 2 : 0) | (kind == .folder ? 0xE0 : 0)
        var body = little(UInt32(content.count), 4) + little(UInt32(content.count), 4) + [3]
        body += little(checksum ?? CRC32Sum.of(content), 4) + little(0x5A21_0000, 4) + [20, 0x30]
        body += little(UInt32(name.utf8.count), 2) + little(mode, 4) + Array(name.utf8)
        blocks += Self.block(0x74, flags, body) + content
    }

    /// The archive.
    package func finished(_ kind: Archive = .whole) -> [UInt8] {
        let flags: UInt32 = kind == .part ? 1 : kind == .encrypted ? 0x80 : 0
        let begin = Array("Rar!".utf8) + [0x1A, 7, 0] + Self.block(0x73, flags, [0, 0, 0, 0, 0, 0])
        return begin + blocks + Self.block(0x7B, 0x4000, [])
    }

    private static func block(_ type: UInt8, _ flags: UInt32, _ body: [UInt8]) -> [UInt8] {
        let rest = [type] + little(flags, 2) + little(UInt32(body.count + 7), 2) + body
        return little(CRC32Sum.of(rest), 2) + rest
    }

    /// An archive of one file, in the format of RAR 5.
    package static func five(
        _ name: String, content: String, _ kind: Archive = .whole, isFileEncrypted: Bool = false
    ) -> [UInt8] {
        let content = Array(content.utf8)
        // Version 0, a key made in 2^15 rounds, salt and vector.
        let encryption: [UInt8] = isFileEncrypted ? [36, 1, 0, 0, 15] + [UInt8](repeating: 7, count: 32) : []
        var file: [UInt8] = [2, UInt8(isFileEncrypted ? 3 : 2)] + (isFileEncrypted ? [UInt8(encryption.count)] : [])
        file += [UInt8(content.count), 4, UInt8(content.count), 0x80 | 0x24, 0x83, 2] + little(CRC32Sum.of(content), 4)
        file += [0, 1, UInt8(name.utf8.count)] + Array(name.utf8) + encryption
        let mark = Array("Rar!".utf8) + [0x1A, 7, 1, 0]
        if kind == .encrypted { return mark + block5([4, 0, 0, 0, 15] + [UInt8](repeating: 7, count: 16)) + content }
        return mark + block5([1, 0, kind == .part ? 1 : 0]) + block5(file) + content + block5([5, 0, 0])
    }

    private static func block5(_ body: [UInt8]) -> [UInt8] {
        let rest = [UInt8(body.count)] + body
        return little(CRC32Sum.of(rest), 4) + rest
    }
}

private func little(_ value: UInt32, _ count: Int) -> [UInt8] {
    (0..<count).map { UInt8(truncatingIfNeeded: value >> (8 * UInt32($0))) }
}
