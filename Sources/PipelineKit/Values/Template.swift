/// A text with placeholders, of which a path or a name is made: `../out/{date:%Y/%m}/{stem}`.
package struct Template: Hashable, Sendable {
    /// What the result names, and so what it may hold.
    package enum Use: Sendable {
        /// A folder or file path; `/` separates components.
        case path
        /// One name; no `/`.
        case name
    }

    enum Segment: Hashable, Sendable {
        case text(String)
        case placeholder(Placeholder)
    }

    enum Placeholder: Hashable, Sendable {
        case name, stem, ext, path, pipeline, job
        case date(format: String)
        /// What a stage before this one found out.
        case fact(String)

        /// Whether what it stands for is made to hold a `/`.
        var hasSlash: Bool {
            switch self {
            case .path: true
            case .date(let format): format.contains("/")
            default: false
            }
        }

        /// Whether what it stands for can be nothing, so that only the text around it is left.
        var canBeEmpty: Bool {
            switch self {
            case .ext, .path, .date: true
            case .name, .stem, .pipeline, .job, .fact: false
            }
        }
    }

    /// The text as it was written.
    package let source: String
    let use: Use
    let segments: [Segment]

    /// What may stand in braces.
    package static let placeholders = ["name", "stem", "ext", "path", "pipeline", "job", "date"]

    /// How a `{date}` without a format is written: `2026-03-01`.
    static let plainDate = "%Y-%m-%d"

    /// A template from text. `facts`: what may stand in braces besides. Refused: unknown placeholders, braces that do
    /// not close, NUL, and what could lead out of the folder that the text names: a `..` after a placeholder, or a
    /// component that could become `..`.
    package init(_ source: String, use: Use, facts: Set<String> = []) throws(TemplateProblem) {
        self.source = source
        self.use = use
        segments = try Self.parse(source, facts)
        try Self.checkStaysInside(segments, source: source, use: use)
    }

    private static func parse(_ source: String, _ facts: Set<String>) throws(TemplateProblem) -> [Segment] {
        guard !source.isEmpty else { throw TemplateProblem("a template must not be empty") }
        guard !source.utf8.contains(0) else { throw TemplateProblem("a template must not contain NUL") }
        var segments: [Segment] = []
        var rest = source[...]
        while let open = rest.firstIndex(where: { $0 == "{" || $0 == "}" }) {
            guard rest[open] == "{" else { throw TemplateProblem("'}' without '{' in '\(source)'") }
            if open > rest.startIndex { segments.append(.text(String(rest[..<open]))) }
            guard let close = rest[open...].firstIndex(of: "}") else {
                throw TemplateProblem("'{' without '}' in '\(source)'")
            }
            segments.append(.placeholder(try placeholder(String(rest[rest.index(after: open)..<close]), facts)))
            rest = rest[rest.index(after: close)...]
        }
        if !rest.isEmpty { segments.append(.text(String(rest))) }
        return segments
    }

    private static func placeholder(_ text: String, _ facts: Set<String>) throws(TemplateProblem) -> Placeholder {
        switch text {
        case "name": return .name
        case "stem": return .stem
        case "ext": return .ext
        case "path": return .path
        case "pipeline": return .pipeline
        case "job": return .job
        case "date": return .date(format: plainDate)
        case _ where facts.contains(text): return .fact(text)
        default:
            guard text.hasPrefix("date:") else {
                let all = placeholders + facts.sorted()
                let hint = Suggestion.nearest(to: text, among: all).map { "did you mean '{\($0)}'?" }
                let known =
                    "known are " + all.map { "{\($0)}" }.joined(separator: " ")
                    + ", and facts of earlier stages"
                throw TemplateProblem("unknown placeholder '{\(text)}'; \(hint ?? known)")
            }
            return .date(format: String(text.dropFirst(5)))
        }
    }

    /// `render` checks the rendered values; this checks the text alone.
    ///
    /// A literal `..` is allowed only before the first placeholder: after one it could undo it.
    private static func checkStaysInside(_ segments: [Segment], source: String, use: Use) throws(TemplateProblem) {
        var component = ""
        var hasPlaceholder = false
        var mayBeDots = true
        var seenPlaceholder = false
        func close() throws(TemplateProblem) {
            defer {
                component = ""
                hasPlaceholder = false
                mayBeDots = true
            }
            if !hasPlaceholder, component == "..", seenPlaceholder || use == .name {
                throw TemplateProblem(
                    "'..' after a placeholder in '\(source)' can lead out of its folder; remove it")
            }
            if hasPlaceholder, mayBeDots, !component.isEmpty, component.allSatisfy({ $0 == "." }) {
                throw TemplateProblem(
                    "a part of '\(source)' can become '.' or '..' and lead out of its folder; add a letter to it")
            }
        }
        for segment in segments {
            switch segment {
            case .placeholder(let placeholder):
                if use == .name, placeholder.hasSlash {
                    throw TemplateProblem(
                        "'\(source)' is a file name, and one of its placeholders renders to a path with '/'")
                }
                hasPlaceholder = true
                mayBeDots = mayBeDots && placeholder.canBeEmpty
                seenPlaceholder = true
            case .text(let text):
                for character in text {
                    guard character == "/" else {
                        component.append(character)
                        continue
                    }
                    if use == .name { throw TemplateProblem("'\(source)' is a file name and must not contain '/'") }
                    try close()
                }
            }
        }
        try close()
    }
}
