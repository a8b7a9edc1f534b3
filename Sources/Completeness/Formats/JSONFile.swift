/// JSON (RFC 8259), also one document after the other: read as far as its brackets and texts are closed. Whatever
/// breaks its rules is none.
enum JSONFile: FormatReader {
    static func examine(_ content: Content) throws(ReadError) -> Finding? {
        guard isLikely(try content.bytes(0, 4096)) else { return nil }
        var scan = Scan()
        var place: Int64 = 0
        let isBroken = try content.stream { piece in
            for byte in piece {
                guard scan.consume(byte) else { return true }
                place += 1
            }
            return false
        }
        guard let isBroken else { return .unclear }
        if isBroken, try !content.isUnwritten(from: place) { return nil }
        return scan.isClosed ? .whole : .lacks(.end)
    }

    /// A bracket, and behind it what may begin a member: text that begins with a bracket is no rarity.
    private static func isLikely(_ head: ArraySlice<UInt8>) -> Bool {
        let isMarked = head.starts(with: [0xEF, 0xBB, 0xBF])
        let rest = head.dropFirst(isMarked ? 3 : 0).drop { Scan.isSpace($0) }
        let next = rest.dropFirst().first { !Scan.isSpace($0) }
        switch rest.first {
        case UInt8(ascii: "{"): return next.map { Array("\"}".utf8).contains($0) } ?? false
        case UInt8(ascii: "["): return next.map { Array("\"[]{-0123456789tfn".utf8).contains($0) } ?? false
        default: return false
        }
    }

    private struct Scan {
        private enum State { case mark, value, member, word, text, escape, after }

        /// For each open bracket whether it is one of an object.
        private var open: [Bool] = []
        private var state = State.mark
        /// Whether a text is a member's name, behind which a colon has to follow.
        private var isName = false
        private var needsColon = false
        private static let deepest = 1 << 20

        static func isSpace(_ byte: UInt8) -> Bool { byte == 32 || byte == 10 || byte == 13 || byte == 9 }

        var isClosed: Bool { open.isEmpty && (state == .after || state == .value || state == .word) }

        /// Takes in a byte; whether it may stand there.
        mutating func consume(_ byte: UInt8) -> Bool {
            switch state {
            case .text:
                if byte == UInt8(ascii: "\\") { state = .escape }
                if byte == UInt8(ascii: "\"") {
                    state = .after
                    needsColon = isName
                }
                return byte >= 0x20
            case .escape:
                state = .text
                return true
            case .mark:
                if byte == 0xEF || byte == 0xBB || byte == 0xBF { return true }
                state = .value
                return consume(byte)
            case .word:
                switch byte {
                case 0x30...0x39, 0x61...0x7A, UInt8(ascii: "E"), UInt8(ascii: "+"), UInt8(ascii: "-"),
                    UInt8(ascii: "."):
                    return true
                default:
                    state = .after
                    return goOn(byte)
                }
            case .value, .member: return begin(byte)
            case .after: return goOn(byte)
            }
        }

        private mutating func begin(_ byte: UInt8) -> Bool {
            if Self.isSpace(byte) { return true }
            let isMember = state == .member
            switch byte {
            case UInt8(ascii: "\""):
                isName = isMember
                state = .text
            case UInt8(ascii: "}"), UInt8(ascii: "]"): return close(byte)
            case _ where isMember: return false
            case UInt8(ascii: "{"), UInt8(ascii: "["):
                guard open.count < Self.deepest else { return false }
                open.append(byte == UInt8(ascii: "{"))
                state = byte == UInt8(ascii: "{") ? .member : .value
            case UInt8(ascii: "-"), 0x30...0x39, UInt8(ascii: "t"), UInt8(ascii: "f"), UInt8(ascii: "n"): state = .word
            default: return false
            }
            return true
        }

        private mutating func goOn(_ byte: UInt8) -> Bool {
            if Self.isSpace(byte) { return true }
            if needsColon {
                needsColon = false
                state = .value
                return byte == UInt8(ascii: ":")
            }
            guard let isObject = open.last else {
                state = .value
                return begin(byte)
            }
            if byte == UInt8(ascii: ",") {
                state = isObject ? .member : .value
                return true
            }
            return close(byte)
        }

        private mutating func close(_ byte: UInt8) -> Bool {
            state = .after
            switch byte {
            case UInt8(ascii: "}"): return open.popLast() == true
            case UInt8(ascii: "]"): return open.popLast() == false
            default: return false
            }
        }
    }
}
