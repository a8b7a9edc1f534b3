import Files
import PipelineKit
import SystemPackage

/// Reads one pipeline from nodes: every key with its default, every problem reported.
struct PipelineDecoder {
    static let keys = PipelineKey.all.map(\.name)

    /// The file, as it was given.
    let source: FilePath
    let registry: StageRegistry
    /// What `workers: auto` means.
    let cores: Int
    /// The variables that secrets may come from.
    let environment: [String: String]
    /// What the stages that were read so far find out.
    var facts: Set<String> = []
    /// What they find out before one of them makes new files, with its kind.
    var forgotten: [String: String] = [:]
    /// What any stage finds out.
    var everyFact: Set<String> = []
    var problems: [OptionProblem] = []

    init(source: FilePath, registry: StageRegistry, cores: Int, environment: [String: String] = [:]) {
        self.source = source
        self.registry = registry
        self.cores = cores
        self.environment = environment
    }

    /// Where relative paths start: the file's own folder.
    var base: FilePath { source.absolute.removingLastComponent() }

    mutating func decode(_ root: OptionNode) -> PipelineDraft {
        var draft = PipelineDraft(source: source)
        draft.declaration = PipelineDefinition.declaration(of: root, base: base)
        guard case .map = root.content else {
            _ = OptionMap(root, name: "", keys: Self.keys, problems: &problems)
            return draft
        }
        let map = OptionMap(root, name: "", keys: Self.keys, problems: &problems)
        draft.name = name(map)
        draft.formerly = name("formerly", map)
        folders(map, &draft)
        draft.match = match(map)
        draft.ready = ready(map)
        if draft.ready.unit == .folder, draft.match.depth != 1, let match = map.given("match") {
            problems.append(
                OptionProblem(
                    "'match.depth' searches folders, but 'ready.unit: folder' takes them whole; leave one out",
                    at: match.position))
        }
        active(map, &draft)
        draft.fair = fair(map, draft)
        draft.priority = priority(map)
        draft.limit = limit(map)
        draft.hours = hours(map)
        draft.weight =
            map.read("weight", problems: &problems) { node throws(OptionProblem) in
                try node.integer(in: 1...FairRule.mostWeight)
            } ?? draft.weight
        draft.order =
            map.read("order", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: Pipeline.Order.self)
            } ?? draft.order
        draft.scan =
            map.read("scan", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: Pipeline.Scan.self)
            } ?? draft.scan
        draft.onConflict =
            map.read("on_conflict", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: Pipeline.ConflictPolicy.self)
            } ?? draft.onConflict
        draft.durability =
            map.read("durability", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: Durability.self)
            } ?? draft.durability
        draft.ownership =
            map.read("ownership", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: Pipeline.Ownership.self)
            } ?? draft.ownership
        draft.rights = rights(map)
        if draft.ownership == .keep { refuseRights(map) }
        draft.minFree =
            map.read("min_free", problems: &problems) { node throws(OptionProblem) in try node.size() } ?? draft.minFree
        draft.upload = upload(map)
        draft.keep = keep(map, draft)
        draft.retry = retry(map, over: draft.retry) ?? draft.retry
        draft.stages = stages(map, at: root.position, retry: draft.retry)
        draft.onFailure = onFailure(map, retry: draft.retry)
        draft.solitary = solitary(map, draft)
        return draft
    }

    // MARK: Name

    private mutating func name(_ map: OptionMap) -> PipelineDraft.Placed<String>? {
        guard map.given("name") != nil else {
            let stem = source.stem ?? ""
            if Self.isPlain(stem) { return PipelineDraft.Placed(value: stem, position: .start) }
            let text = EscapedText.of(stem)
            problems.append(
                OptionProblem("the file's name '\(text)' is not a valid pipeline name; add 'name:'", at: .start))
            return nil
        }
        return name("name", map)
    }

    private mutating func name(_ key: String, _ map: OptionMap) -> PipelineDraft.Placed<String>? {
        guard let entry = map.given(key) else { return nil }
        let name = map.read(key, problems: &problems) { node throws(OptionProblem) in
            let text = try node.string()
            guard Self.isPlain(text) else {
                throw node.problem(
                    "'\(EscapedText.of(text))' is not a valid name; use at most 64 letters, digits, '-', '_' and '.', "
                        + "with no dot in front"
                )
            }
            return text
        }
        return name.map { PipelineDraft.Placed(value: $0, position: entry.value.position) }
    }

    /// Whether the text can name a work folder, a queue and a metric.
    private static func isPlain(_ text: String) -> Bool {
        guard !text.isEmpty, text.utf8.count <= 64, !text.hasPrefix(".") else { return false }
        return text.allSatisfy { $0.isASCII && ($0.isLetter || $0.isNumber || "-_.".contains($0)) }
    }
}

extension OptionNode.Content {
    var text: String? {
        if case .scalar(let text, _) = self { text } else { nil }
    }
}
