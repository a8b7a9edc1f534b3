/// Finds the end of a request's head, byte by byte, and what must not be in one: whoever reads lines otherwise than a
/// proxy before it reads another request.
struct HeadScan {
    enum Outcome: Equatable {
        case end
        /// A sentence's beginning.
        case fault(String)
    }

    private static let host = Array("host:".utf8)
    /// How much of a line's beginning and end is looked at.
    private static let edge = 9

    private(set) var count = 0
    private var lines = 0
    private var hosts = 0
    private var last: UInt8 = 0
    /// The beginning of the line that comes, in lower case.
    private var start: [UInt8] = []
    /// The end of the first line.
    private var tail: [UInt8] = []
    /// What is asked for begins so.
    private var target: UInt8?

    /// Whether the first line says HTTP/1.1.
    var isCurrent: Bool { tail.elementsEqual(" HTTP/1.1".utf8) }

    mutating func take(_ byte: UInt8) -> Outcome? {
        defer { last = byte }
        count += 1
        if last == UInt8(ascii: "\r"), byte != UInt8(ascii: "\n") { return .fault("a CR in its head ends no line") }
        switch byte {
        case 0: return .fault("its head has a NUL")
        case UInt8(ascii: "\n"):
            guard last == UInt8(ascii: "\r") else { return .fault("a line of its head ends without CR") }
            return endLine()
        case UInt8(ascii: "\r"): break
        default: keep(byte)
        }
        return nil
    }

    private mutating func keep(_ byte: UInt8) {
        let isUpper = (UInt8(ascii: "A")...UInt8(ascii: "Z")).contains(byte)
        if start.count < Self.edge { start.append(isUpper ? byte | 0x20 : byte) }
        guard lines == 0 else { return }
        if last == UInt8(ascii: " "), target == nil { target = byte }
        tail.append(byte)
        if tail.count > Self.edge { tail.removeFirst() }
    }

    private mutating func endLine() -> Outcome? {
        defer { (start, lines) = ([], lines + 1) }
        if lines > 0, start.isEmpty { return end() }
        if start.starts(with: Self.host) { hosts += 1 }
        return nil
    }

    private func end() -> Outcome {
        guard isCurrent else { return .end }
        if hosts > 1 { return .fault("it has more than one Host") }
        guard target == UInt8(ascii: "/") else { return .fault("what it asks for does not begin with '/'") }
        return .end
    }
}
