import PipelineKit

/// Turns the YAML of a pipeline file into nodes; no later step sees YAML.
///
/// Hostile files are bounded while they are read: every use of an alias counts, so a
/// few lines cannot become millions of values, and nesting is limited.
struct YAMLReader: ~Copyable {
    /// The most values in a file, with aliases expanded.
    static let mostValues = 10_000
    static let deepest = 32

    /// A node, and its size with aliases expanded.
    private struct Composed {
        let node: OptionNode
        var values = 1
        var depth = 1
    }

    private let events: YAMLEvents
    private let mayBeEmpty: Bool
    private var anchors: [String: Composed] = [:]
    private var values = 0
    private var problems: [OptionProblem] = []

    private init(_ text: [UInt8], mayBeEmpty: Bool) {
        events = YAMLEvents(text)
        self.mayBeEmpty = mayBeEmpty
    }

    /// The file's one document. Duplicate keys are reported and the first one kept; after a syntax error, and in a file
    /// that may be empty, there is no node.
    static func read(
        _ file: [UInt8], mayBeEmpty: Bool = false
    ) -> (root: OptionNode?, problems: [OptionProblem]) {
        // Some Windows editors begin a file with a byte order mark.
        let text = file.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(file.dropFirst(3)) : file
        if let offset = firstInvalidByte(in: text) {
            let problem = OptionProblem(
                "not UTF-8; save the file as UTF-8", at: SourcePosition(offset: offset, in: text))
            return (nil, [problem])
        }
        var reader = YAMLReader(text, mayBeEmpty: mayBeEmpty)
        do throws(OptionProblem) {
            return (try reader.document(), reader.problems)
        } catch {
            return (nil, reader.problems + [error])
        }
    }

    private mutating func document() throws(OptionProblem) -> OptionNode? {
        _ = try events.next()
        let start = try events.next()
        guard case .documentStart = start.content else { return try nothing() }
        let root = try compose(try events.next(), depth: 1).node
        _ = try events.next()
        let end = try events.next()
        if case .documentStart = end.content {
            throw OptionProblem(
                mayBeEmpty
                    ? "a file contains one document; leave out the '---' between two"
                    : "a file contains one pipeline; put each of the others into its own file", at: end.position)
        }
        return root.isNull ? try nothing() : root
    }

    private func nothing() throws(OptionProblem) -> OptionNode? {
        if mayBeEmpty { return nil }
        throw OptionProblem("the file is empty; a pipeline needs inbox, processed, failed and stages", at: .start)
    }

    private mutating func compose(_ event: YAMLEvent, depth: Int) throws(OptionProblem) -> Composed {
        try count(1, at: event.position)
        guard depth <= Self.deepest else {
            throw OptionProblem(
                "nested more than \(Self.deepest) levels deep; a pipeline needs only a few", at: event.position)
        }
        var composed: Composed
        switch event.content {
        case .alias(let name): return try resolve(name, at: event.position, depth: depth)
        case .scalar(let text, let plain):
            composed = Composed(node: try Self.scalar(text, plain: plain, event))
        case .listStart:
            try Self.checkTag(event, allowed: "tag:yaml.org,2002:seq")
            composed = try list(at: event.position, depth: depth)
        case .mapStart:
            try Self.checkTag(event, allowed: "tag:yaml.org,2002:map")
            composed = try map(at: event.position, depth: depth)
        default: throw OptionProblem("not valid YAML: a value is missing", at: event.position)
        }
        if let anchor = event.anchor { anchors[anchor] = composed }
        return composed
    }

    private mutating func list(at position: SourcePosition, depth: Int) throws(OptionProblem) -> Composed {
        var members: [OptionNode] = []
        var total = Composed(node: OptionNode(.null, at: position))
        while true {
            let event = try events.next()
            if case .listEnd = event.content { break }
            let member = try compose(event, depth: depth + 1)
            total.values += member.values
            total.depth = max(total.depth, member.depth + 1)
            members.append(member.node)
        }
        return Composed(node: OptionNode(.list(members), at: position), values: total.values, depth: total.depth)
    }

    private mutating func map(at position: SourcePosition, depth: Int) throws(OptionProblem) -> Composed {
        var entries: [OptionNode.Entry] = []
        var seen: [String: SourcePosition] = [:]
        var total = Composed(node: OptionNode(.null, at: position))
        while true {
            let event = try events.next()
            if case .mapEnd = event.content { break }
            guard case .scalar(let key, _) = event.content else {
                throw OptionProblem("a key must be a string", at: event.position)
            }
            let value = try compose(try events.next(), depth: depth + 1)
            total.values += value.values
            total.depth = max(total.depth, value.depth + 1)
            if let first = seen[key] {
                let entry = OptionNode.Entry(key: key, position: event.position, value: value.node)
                let place = "line \(first.line)"
                problems.append(
                    entry.problem("\(entry.name ?? "the same key") is given twice, first in \(place); keep one"))
                continue
            }
            seen[key] = event.position
            entries.append(OptionNode.Entry(key: key, position: event.position, value: value.node))
        }
        return Composed(node: OptionNode(.map(entries), at: position), values: total.values, depth: total.depth)
    }

    private mutating func resolve(_ name: String, at position: SourcePosition, depth: Int) throws(OptionProblem)
        -> Composed
    {
        guard let target = anchors[name] else {
            throw OptionProblem(
                "nothing before it has this name as its anchor; quote a value that begins with '*'",
                at: position)
        }
        try count(target.values, at: position)
        guard depth + target.depth <= Self.deepest else {
            throw OptionProblem(
                "nested more than \(Self.deepest) levels deep with its aliases; use fewer", at: position)
        }
        return target
    }

    private mutating func count(_ more: Int, at position: SourcePosition) throws(OptionProblem) {
        values += more
        guard values <= Self.mostValues else {
            throw OptionProblem(
                "the file expands to more than \(Self.mostValues) values; use fewer aliases", at: position)
        }
    }

    /// YAML's core schema, as far as it matters here: only "nothing" differs from text; numbers and truth values are
    /// reported where they are read.
    private static func scalar(_ text: String, plain: Bool, _ event: YAMLEvent) throws(OptionProblem) -> OptionNode {
        try checkTag(event, allowed: "tag:yaml.org,2002:str")
        let isText = !plain || event.tag != nil
        let content: OptionNode.Content = isText ? .scalar(text, quoted: true) : OptionNode.Content(plain: text)
        return OptionNode(content, at: event.position)
    }

    private static func checkTag(_ event: YAMLEvent, allowed: String) throws(OptionProblem) {
        guard let tag = event.tag, tag != "!", tag != allowed else { return }
        // It is not told: a password may begin with '!'.
        throw OptionProblem(
            "tags are not supported; leave it out, or quote a value that begins with '!'", at: event.position)
    }

    private static func firstInvalidByte(in text: [UInt8]) -> Int? {
        if String(validating: text, as: UTF8.self) != nil { return nil }
        var decoder = UTF8()
        var bytes = text.makeIterator()
        var offset = 0
        while case .scalarValue(let scalar) = decoder.decode(&bytes) { offset += UTF8.width(scalar) }
        return offset
    }
}

extension OptionNode.Content {
    /// What an unquoted scalar means.
    init(plain text: String) {
        self = ["", "~", "null", "Null", "NULL"].contains(text) ? .null : .scalar(text, quoted: false)
    }
}
