/// One entry of the system's journal in its native protocol (systemd.io, "Native Journal Protocol"), with the line that
/// takes its place where the journal cannot be reached. Fields may hold any bytes.
struct JournalEntry: Equatable {
    private(set) var bytes: [UInt8] = []
    /// For a stream that journald reads (sd-daemon(3): the priority in front).
    let line: [UInt8]

    /// An entry of a priority as syslog(3) has it.
    init(priority: Int, message: String) {
        let lines = message.split(separator: "\n").map { "<\(priority)>\($0)\n" }
        line = Array(lines.joined().utf8)
        add("MESSAGE", Array(message.utf8))
        add("PRIORITY", Array("\(priority)".utf8))
        add("SYSLOG_IDENTIFIER", Array("dropmill".utf8))
    }

    private init(bytes: [UInt8], line: [UInt8]) { (self.bytes, self.line) = (bytes, line) }

    /// Adds a field; one of a name that is there already is another value of it.
    mutating func add(_ name: String, _ value: [UInt8]) {
        bytes += Array(name.utf8)
        if value.contains(UInt8(ascii: "\n")) {
            bytes.append(UInt8(ascii: "\n"))
            bytes += Self.number(value.count)
        } else {
            bytes.append(UInt8(ascii: "="))
        }
        bytes += value
        bytes.append(UInt8(ascii: "\n"))
    }

    // MARK: Several in a row

    /// The entry with the lengths of its parts in front.
    var packed: [UInt8] { Self.number(line.count) + line + Self.number(bytes.count) + bytes }

    /// The entries that were packed one after another.
    static func unpacked(_ all: [UInt8]) -> [JournalEntry] {
        var (rest, entries) = (all[...], [JournalEntry]())
        func next() -> [UInt8]? {
            guard rest.count >= 8 else { return nil }
            let count = rest.prefix(8).reversed().reduce(0) { $0 << 8 | Int($1) }
            rest = rest.dropFirst(8)
            defer { rest = rest.dropFirst(count) }
            return Array(rest.prefix(count))
        }
        while let line = next(), let bytes = next() { entries.append(JournalEntry(bytes: bytes, line: line)) }
        return entries
    }

    private static func number(_ count: Int) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: count >> ($0 * 8)) }
    }
}
