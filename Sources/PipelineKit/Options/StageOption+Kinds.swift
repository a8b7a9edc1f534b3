public import Files
public import SystemPackage

extension StageOption where Value == Bool {
    /// `true` or `false`.
    public static func flag(_ name: String, _ summary: String, default fallback: Bool) -> Self {
        Self(name, summary, takes: "true | false", default: fallback, shown: "\(fallback)", schema: .flag) {
            (node, _) throws(OptionProblem) in
            try node.bool()
        }
    }
}

extension StageOption where Value: CaseIterable & RawRepresentable<String> {
    /// One of some words.
    public static func choice(_ name: String, _ summary: String, default fallback: Value) -> Self {
        Self(
            name, summary, takes: Value.allCases.map(\.rawValue).joined(separator: " | "), default: fallback,
            shown: fallback.rawValue, schema: .choice(Value.allCases.map(\.rawValue))
        ) { (node, _) throws(OptionProblem) in try node.choice(of: Value.self) }
    }
}

extension StageOption where Value == PathTemplate {
    /// A folder, with placeholders; must be given.
    public static func folder(_ name: String, _ summary: String) -> Self {
        Self(
            name, summary, takes: "a folder, with placeholders", default: nil, shown: "required", schema: .pattern(".")
        ) {
            (node, context) throws(OptionProblem) in
            PathTemplate(try node.template(for: .path, in: context), below: context.base)
        }
    }
}

extension StageOption where Value == [PathTemplate] {
    /// One folder or several, with placeholders; must be given.
    package static func folders(_ name: String, _ summary: String) -> Self {
        Self(
            name, summary, takes: "a folder, with placeholders, or a list", default: nil, shown: "required",
            schema: .oneOrMore(.pattern("."))
        ) { (node, context) throws(OptionProblem) in
            var folders: [PathTemplate] = []
            for member in node.members {
                folders.append(PathTemplate(try member.template(for: .path, in: context), below: context.base))
            }
            if folders.isEmpty { throw node.problem("name at least one folder") }
            return folders
        }
    }
}

extension StageOption where Value == FilePath? {
    /// A file; a relative path starts at the pipeline file's folder.
    public static func file(_ name: String, _ summary: String, default fallback: FilePath? = nil) -> Self {
        Self(
            name, summary, takes: "a path", default: .some(fallback), shown: fallback?.text ?? "", schema: .pattern(".")
        ) {
            (node, context) throws(OptionProblem) in
            let text = try node.string()
            guard !text.isEmpty, !text.utf8.contains(0) else { throw node.problem("'\(text)' is not a valid path") }
            return context.base.pushing(FilePath(text)).lexicallyNormalized()
        }
    }
}

extension StageOption where Value == [Glob] {
    /// Patterns; none unless given.
    package static func globs(_ name: String, _ summary: String, shown: String = "") -> Self {
        Self(name, summary, takes: "a pattern, or a list", default: [], shown: shown, schema: .anyNumber(.text)) {
            (node, _) throws(OptionProblem) in
            var globs: [Glob] = []
            for member in node.members { globs.append(try member.glob()) }
            return globs
        }
    }
}

extension StageOption where Value == String? {
    /// A string; none unless given.
    public static func text(_ name: String, _ summary: String, takes: String = "string", shown: String = "") -> Self {
        Self(name, summary, takes: takes, default: .some(nil), shown: shown) { (node, _) throws(OptionProblem) in
            try node.string()
        }
    }
}

extension StageOption where Value == FileName? {
    /// The name of a file; none unless given.
    public static func name(_ name: String, _ summary: String, shown: String = "") -> Self {
        Self(name, summary, takes: "a file name", default: .some(nil), shown: shown, schema: .pattern("^[^/]+$")) {
            (node, _) throws(OptionProblem) in
            let text = try node.string()
            guard let name = FileName(text), name.bytes.count <= FileName.longest else {
                throw node.problem("'\(text)' is not a file name; write one such as SHA256SUMS")
            }
            return name
        }
    }
}

extension StageOption where Value == ByteSize? {
    /// A size; none unless given.
    public static func size(_ name: String, _ summary: String) -> Self {
        Self(name, summary, takes: "a size such as 10MiB", default: .some(nil), shown: "", schema: .size) {
            (node, _) throws(OptionProblem) in
            try node.size()
        }
    }
}

extension StageOption where Value == Duration {
    /// A duration longer than zero.
    public static func duration(_ name: String, _ summary: String, default fallback: Duration) -> Self {
        Self(name, summary, takes: "a duration such as 30s", default: fallback, shown: fallback.text, schema: .time) {
            (node, _) throws(OptionProblem) in
            let duration = try node.duration()
            guard duration > .zero else { throw node.problem("expected more than zero, found \(duration.text)") }
            return duration
        }
    }
}

extension StageOption where Value == Int {
    /// A whole number.
    public static func integer(
        _ name: String, _ summary: String, in range: ClosedRange<Int>, default fallback: Int, shown: String? = nil
    ) -> Self {
        Self(
            name, summary, takes: "a whole number, \(range.lowerBound) to \(range.upperBound)", default: fallback,
            shown: shown ?? "\(fallback)", schema: .integer(range)
        ) { (node, _) throws(OptionProblem) in try node.integer(in: range) }
    }
}
