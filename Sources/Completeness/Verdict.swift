import Helpers

/// What a file says of itself.
package enum Verdict: Hashable, Sendable {
    /// It is all there, as far as its format can tell.
    case whole
    case lacks(Format, Lack)
    /// Its format is known, and cannot tell.
    case unclear
    /// Its format is not known.
    case unknown
    /// It cannot be read, with the number of the error.
    case unreadable(Int32)

    /// What it is, where it is not whole: `a zip archive without its end record`.
    package var lack: String? {
        guard case .lacks(let format, let lack) = self else { return nil }
        let (name, end) = format.words
        return switch lack {
        case .end: "\(name) without its \(end)"
        case .bytes(let count): "\(name) that is missing \(count) bytes"
        case .beginning: "\(name) whose header is not filled in"
        case .target: "\(name) with an offset that leads to nothing valid"
        case .sense: "\(name) with invalid data"
        }
    }

    // MARK: From one process to the other

    var packet: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .whole: writer.put("whole")
        case .unclear: writer.put("unclear")
        case .unknown: writer.put("unknown")
        case .unreadable(let errno):
            writer.put("unreadable")
            writer.put(Int64(errno))
        case .lacks(let format, let lack):
            writer.put("lacks")
            writer.put(format.rawValue)
            writer.put(lack.word)
            if case .bytes(let count) = lack { writer.put(count) }
        }
        return writer.bytes
    }

    init?(packet: [UInt8]) {
        var reader = WireReader(packet)
        switch reader.text() {
        case "whole": self = .whole
        case "unclear": self = .unclear
        case "unknown": self = .unknown
        case "unreadable":
            guard let errno = reader.number().flatMap({ Int32(exactly: $0) }) else { return nil }
            self = .unreadable(errno)
        case "lacks":
            guard let format = reader.word(Format.self), let word = reader.text() else { return nil }
            guard let lack = word == "bytes" ? reader.number().map({ .bytes($0) }) : Lack.words[word] else {
                return nil
            }
            self = .lacks(format, lack)
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }
}
