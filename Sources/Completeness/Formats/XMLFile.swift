/// XML: read as far as each element is closed. Only what says in its first bytes that it is XML, since HTML need not
/// close what it opens; and only where each character of its marks is one byte.
enum XMLFile: FormatReader {
    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        let isMarked = try content.has([0xEF, 0xBB, 0xBF], at: 0)
        let declaration = try content.bytes(isMarked ? 3 : 0, 256).prefix { $0 != UInt8(ascii: ">") && $0 != 0 }
        guard declaration.starts(with: Array("<?xml".utf8)) else { return nil }
        // Text may be about XML too.
        let version = declaration.dropFirst(5).drop { $0 <= 0x20 }.prefix(7)
        guard Array("version".utf8).starts(with: version) else { return nil }
        // There what looks like a mark may be half of a character.
        let words = String(decoding: declaration, as: UTF8.self).lowercased()
        if ["iso-2022", "iso2022", "utf-7", "\"hz", "'hz"].contains(where: { words.contains($0) }) { return .unclear }
        var scan = Scan()
        let isRead = try content.stream { piece in
            for byte in piece { scan.consume(byte) }
            return false
        }
        if isRead == nil { return .unclear }
        return scan.isClosed ? .whole : .lacks(.end)
    }

    private struct Scan {
        private enum State { case text, tag, quoted, instruction, comment, characters, declaration }

        private var state = State.text
        private var depth = 0
        private var hasRoot = false
        /// The last bytes, and how many there are since a tag began.
        private var recent: UInt64 = 0
        private var count = 0
        private var quote: UInt8 = 0
        /// Whether a tag closes an element, or both opens and closes it.
        private var isClosing = false, isEmpty = false
        /// Brackets that are open in a declaration.
        private var brackets = 0

        var isClosed: Bool { state == .text && hasRoot && depth == 0 }

        mutating func consume(_ byte: UInt8) {
            recent = recent << 8 | UInt64(byte)
            switch state {
            case .text:
                guard byte == UInt8(ascii: "<") else { return }
                (state, count, isClosing, isEmpty) = (.tag, 0, false, false)
            case .tag: tag(byte)
            case .quoted:
                if byte == quote { state = outside(.tag) }
            case .instruction:
                if ends("?>") { state = outside(.text) }
            case .comment:
                if ends("-->") { state = outside(.text) }
            case .characters:
                if ends("]]>") { state = .text }
            case .declaration: declaration(byte)
            }
        }

        private func outside(_ state: State) -> State { brackets > 0 ? .declaration : state }

        private func ends(_ mark: StaticString) -> Bool {
            let value = mark.withUTF8Buffer { $0.reduce(UInt64(0)) { $0 << 8 | UInt64($1) } }
            return recent & (UInt64.max >> UInt64(64 - 8 * mark.utf8CodeUnitCount)) == value
        }

        private mutating func tag(_ byte: UInt8) {
            count += 1
            // The first bytes say what it is.
            switch count {
            case 1 where byte == UInt8(ascii: "?"):
                state = .instruction
                return
            case 1: isClosing = byte == UInt8(ascii: "/")
            case 2 where ends("<!-") || ends("<!["): return
            case 2 where recent >> 8 & 0xFF == 0x21:
                (state, brackets) = (.declaration, 1)
                return
            case 3 where ends("<!--"):
                state = .comment
                return
            case 8 where ends("![CDATA["):
                state = .characters
                return
            default: break
            }
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): (state, quote) = (.quoted, byte)
            case UInt8(ascii: ">"): close()
            default: isEmpty = byte == UInt8(ascii: "/")
            }
        }

        private mutating func close() {
            hasRoot = true
            if isClosing { depth -= 1 } else if !isEmpty { depth += 1 }
            state = .text
        }

        /// `<!DOCTYPE … [ <!ENTITY …> ]>`: each bracket in it is closed before it is.
        private mutating func declaration(_ byte: UInt8) {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "'"): (state, quote) = (.quoted, byte)
            case UInt8(ascii: "<"), UInt8(ascii: "["): brackets += 1
            case UInt8(ascii: ">"), UInt8(ascii: "]"):
                brackets -= 1
                if brackets == 0 { state = .text }
            case UInt8(ascii: "-") where ends("<!--"), UInt8(ascii: "?") where ends("<?"):
                brackets -= 1
                state = byte == UInt8(ascii: "-") ? .comment : .instruction
            default: break
            }
        }
    }
}
