import PipelineKit

/// A YAML file with the places of all that is in it: to show it as it was written, but for some of it.
struct YAMLParts: ~Copyable {
    /// A value or a key.
    indirect enum Part {
        case scalar(String, leaf: Int)
        case alias(String, leaf: Int)
        case list([Part])
        case map([Entry])
        /// One that others may name.
        case named(String, Part)
    }

    struct Entry {
        let key: Part
        let value: Part
        /// The leaves of key and value.
        let leaves: Range<Int>
    }

    /// Where its leaves stand, keys among them, in order: bytes of the text. One that was left out has none.
    private(set) var leaves: [Range<Int>] = []
    /// Where each begins behind its name, its tag, the sign of a block, and comments beside these.
    private(set) var beginnings: [Int] = []
    private(set) var root = Part.list([])

    private let text: [UInt8]
    private let events: YAMLEvents
    /// Where each character begins.
    private let offsets: [UInt32]

    /// Of a text that `YAMLReader` has read; nil where that is not so.
    init?(_ text: [UInt8]) {
        self.text = text
        events = YAMLEvents(text)
        offsets =
            text.indices.filter { text[$0] & 0xC0 != 0x80 }.map { UInt32(clamping: $0) }
            + [UInt32(clamping: text.count)]
        do throws(OptionProblem) {
            _ = try events.next()
            _ = try events.next()
            root = try part(of: try events.next(), depth: 1)
        } catch {
            return nil
        }
    }

    private mutating func part(of event: YAMLEvent, depth: Int) throws(OptionProblem) -> Part {
        guard depth <= YAMLReader.deepest else { throw OptionProblem("too deep", at: event.position) }
        let part: Part
        switch event.content {
        case .scalar(let text, _): part = .scalar(text, leaf: add(event))
        case .alias(let name): part = .alias(name, leaf: add(event))
        case .listStart:
            var members: [Part] = []
            while true {
                let next = try events.next()
                if case .listEnd = next.content { break }
                members.append(try self.part(of: next, depth: depth + 1))
            }
            part = .list(members)
        case .mapStart:
            var entries: [Entry] = []
            while true {
                let next = try events.next()
                if case .mapEnd = next.content { break }
                let first = leaves.count
                let key = try self.part(of: next, depth: depth + 1)
                let value = try self.part(of: try events.next(), depth: depth + 1)
                entries.append(Entry(key: key, value: value, leaves: first..<leaves.count))
            }
            part = .map(entries)
        default: throw OptionProblem("a value is missing", at: event.position)
        }
        return event.anchor.map { .named($0, part) } ?? part
    }

    private mutating func add(_ event: YAMLEvent) -> Int {
        func offset(_ character: Int) -> Int { Int(offsets[min(max(0, character), offsets.count - 1)]) }
        leaves.append(offset(event.range.lowerBound)..<offset(event.range.upperBound))
        beginnings.append(Self.beginning(of: text[leaves[leaves.count - 1]]))
        return leaves.count - 1
    }

    private static func beginning(of leaf: ArraySlice<UInt8>) -> Int {
        var index = leaf.startIndex
        while index < leaf.endIndex {
            let rest = leaf[index...]
            switch leaf[index] {
            case 0x20, 0x09, 0x0A, 0x0D: index += 1
            case UInt8(ascii: "&"), UInt8(ascii: "!"): index = rest.firstIndex { $0 <= 0x20 } ?? leaf.endIndex
            case UInt8(ascii: "#"): index = rest.firstIndex(of: 0x0A) ?? leaf.endIndex
            case UInt8(ascii: "|"), UInt8(ascii: ">"): return rest.firstIndex(of: 0x0A) ?? leaf.endIndex
            default: return index
            }
        }
        return index
    }
}

extension YAMLParts.Part {
    /// Itself, whatever it is called.
    var plain: YAMLParts.Part { if case .named(_, let part) = self { part.plain } else { self } }

    /// Calls back for each part that has a name.
    func named(_ body: (String, YAMLParts.Part) -> Void) {
        switch self {
        case .scalar, .alias: break
        case .list(let members): for member in members { member.named(body) }
        case .map(let entries):
            for entry in entries {
                entry.key.named(body)
                entry.value.named(body)
            }
        case .named(let name, let part):
            body(name, part)
            part.named(body)
        }
    }
}
