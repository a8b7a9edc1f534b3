/// Texts in UTF-16, as some of Windows' tools write lists of digests. Pure.
package enum UTF16Text {
    /// A text that begins with a byte order mark as UTF-8, without the mark; any other as it is.
    package static func utf8(ifMarked text: [UInt8]) -> [UInt8] {
        if text.starts(with: [0xEF, 0xBB, 0xBF]) { return Array(text.dropFirst(3)) }
        return text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) ? utf8(text) : text
    }

    /// A text in UTF-16 as UTF-8. Without a mark it is big-endian (RFC 2781, 4.3).
    package static func utf8(_ text: [UInt8]) -> [UInt8] {
        let isLittle = text.starts(with: [0xFF, 0xFE])
        let units = stride(from: 0, to: text.count - 1, by: 2).map { index -> UInt16 in
            let (first, second) = (UInt16(text[index]), UInt16(text[index + 1]))
            return isLittle ? second << 8 | first : first << 8 | second
        }
        return Array(String(decoding: units.first == 0xFEFF ? units.dropFirst() : units[...], as: UTF16.self).utf8)
    }
}
