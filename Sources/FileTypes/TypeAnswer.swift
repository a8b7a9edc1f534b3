import Helpers

enum TypeAnswer: Equatable {
    /// What libmagic says that the file is.
    case type(String)
    case problem(Rules.Problem)

    var packet: [UInt8] {
        var writer = WireWriter()
        switch self {
        case .type(let type):
            writer.put("type")
            writer.put(String(type.prefix(1000)))
        case .problem(.unloaded(let words)):
            writer.put("unloaded")
            writer.put(String(words.prefix(1000)))
        case .problem(.content(let words)):
            writer.put("content")
            writer.put(String(words.prefix(1000)))
        case .problem(.file(let errno)):
            writer.put("file")
            writer.put(Int64(errno))
        }
        return writer.bytes
    }

    init?(packet: [UInt8]) {
        var reader = WireReader(packet)
        switch (reader.text(), reader.isAtEnd) {
        case ("file", false):
            guard let errno = reader.number().flatMap({ Int32(exactly: $0) }) else { return nil }
            self = .problem(.file(errno))
        case (let kind?, false):
            guard let text = reader.text() else { return nil }
            switch kind {
            case "type": self = .type(text)
            case "unloaded": self = .problem(.unloaded(text))
            case "content": self = .problem(.content(text))
            default: return nil
            }
        default: return nil
        }
        guard reader.isAtEnd else { return nil }
    }
}
