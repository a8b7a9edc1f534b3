import SystemPackage

/// Puts values into a packet between two processes of the same program.
struct WireWriter {
    private(set) var bytes: [UInt8] = []

    mutating func put(_ value: Int64) { withUnsafeBytes(of: value.littleEndian) { bytes += $0 } }

    mutating func put(_ value: Bool) { bytes.append(value ? 1 : 0) }

    mutating func put(_ value: [UInt8]) {
        put(Int64(value.count))
        bytes += value
    }

    mutating func put(_ value: String) { put(Array(value.utf8)) }

    mutating func put(_ value: [UInt8]?) {
        put(value != nil)
        if let value { put(value) }
    }
}

/// Takes values out of a packet in the order they were put in. What comes from a helper may be anything, so each is nil
/// where it is not what it should be.
struct WireReader {
    private var rest: ArraySlice<UInt8>

    init(_ bytes: some Sequence<UInt8>) { rest = Array(bytes)[...] }

    /// Whether all was taken.
    var isAtEnd: Bool { rest.isEmpty }

    mutating func number() -> Int64? {
        guard rest.count >= 8 else { return nil }
        let value = rest.prefix(8).reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
        rest = rest.dropFirst(8)
        return Int64(bitPattern: value)
    }

    mutating func int() -> Int? { number().flatMap { Int(exactly: $0) } }

    mutating func flag() -> Bool? {
        guard let byte = rest.popFirst(), byte <= 1 else { return nil }
        return byte == 1
    }

    mutating func array() -> [UInt8]? {
        guard let count = int(), count >= 0, count <= rest.count else { return nil }
        defer { rest = rest.dropFirst(count) }
        return Array(rest.prefix(count))
    }

    mutating func text() -> String? { array().flatMap { String(validating: $0, as: UTF8.self) } }

    mutating func optionalArray() -> [UInt8]?? {
        guard let isThere = flag() else { return nil }
        if !isThere { return .some(nil) }
        return array().map { .some($0) }
    }

    mutating func word<Value: RawRepresentable<String>>(_ type: Value.Type) -> Value? {
        text().flatMap { Value(rawValue: $0) }
    }
}

extension ArchiveFormat {
    /// A word for the format that a packet carries.
    var wireName: String {
        switch self {
        case .container(let container): "container:" + container.rawValue
        case .compressed(let compression): "compressed:" + compression.rawValue
        }
    }

    init?(wireName: String) {
        let parts = wireName.split(separator: ":").map(String.init)
        guard parts.count == 2 else { return nil }
        if parts[0] == "container", let container = Container(rawValue: parts[1]) {
            self = .container(container)
        } else if parts[0] == "compressed", let compression = Compression(rawValue: parts[1]) {
            self = .compressed(compression)
        } else {
            return nil
        }
    }
}

extension WireWriter {
    mutating func put(_ error: ArchiveError) {
        switch error {
        case .bad(let problem):
            put("bad")
            put(problem.code.rawValue)
            put(problem.entry.map { Array($0.prefix(4096)) })
            put(problem.fact)
            put(problem.remedy)
            put(String(problem.detail.prefix(1000)))
        case .system(let action, let entry, let errno):
            put("system")
            put(action)
            put(entry.map { Array($0.prefix(4096)) })
            put(Int64(errno.rawValue))
        case .stopped: put("stopped")
        }
    }
}

extension WireReader {
    mutating func error() -> ArchiveError? {
        switch text() {
        case "bad":
            guard let code = word(ArchiveError.Code.self), let entry = optionalArray(), let fact = text(),
                let remedy = text(), let detail = text()
            else { return nil }
            return .bad(
                ArchiveError.Problem(code: code, entry: entry, fact: fact, remedy: remedy, detail: detail))
        case "system":
            guard let action = text(), let entry = optionalArray(), let errno = number() else { return nil }
            return .system(action: action, entry: entry, errno: Errno(rawValue: Int32(truncatingIfNeeded: errno)))
        case "stopped": return .stopped
        default: return nil
        }
    }
}
