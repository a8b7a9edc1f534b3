import Files
import PipelineKit

extension PipelineDecoder {
    /// `stages`: the list, each entry a kind or a kind with options.
    mutating func stages(
        _ map: OptionMap, at root: SourcePosition, retry: RetryPolicy
    ) -> [PipelineDraft.Stage] {
        guard let entry = map.given("stages") else {
            reportMissing("stages", map)
            return []
        }
        guard case .list(let members) = entry.value.content else {
            problems.append(entry.value.problem("'stages' must be a list; begin each stage with '- '"))
            return []
        }
        if members.isEmpty { problems.append(entry.value.problem("'stages' is empty; name at least one stage")) }
        return members.map { stage($0, retry: retry) }
    }

    /// `on_failure`: what is done for a job that failed. It cannot publish anything, since the job has failed.
    mutating func onFailure(_ map: OptionMap, retry: RetryPolicy) -> [PipelineDraft.Stage] {
        guard let entry = map.given("on_failure") else { return [] }
        // A job may fail at any stage, with whatever was known by then.
        facts = everyFact
        forgotten = [:]
        if let problem = noList(entry.value) {
            problems.append(problem)
            return []
        }
        var stages = entry.value.members.map { stage($0, retry: retry) }
        for index in stages.indices where stages[index].entry?.timeout == nil {
            stages[index].entry?.timeout = Self.timeToTell
        }
        let telling = registry.remedy(for: .telling)
        for stage in stages where stage.entry != nil && !stage.effects.subtracting([.ends]).isEmpty {
            let kind = stage.descriptor?.kind ?? ""
            problems.append(
                OptionProblem(
                    "'\(kind)' creates or publishes files, but a failed job publishes none; in 'on_failure' use "
                        + "stages that notify someone" + (telling.map { ", such as \($0.kinds)" } ?? ""),
                    at: stage.position))
        }
        for stage in stages where stage.entry?.retry != nil {
            problems.append(
                OptionProblem(
                    "'\(stage.descriptor?.kind ?? "")' has a 'retry', but stages of 'on_failure' run once, so that no "
                        + "failed drop waits for them; leave it out", at: stage.position))
        }
        return stages
    }

    /// What is wrong where `on_failure` is neither a list of stages nor a single one.
    private func noList(_ node: OptionNode) -> OptionProblem? {
        guard case .map(let entries) = node.content else { return nil }
        let kinds = registry.descriptors.map(\.kind)
        if entries.count == 1, Suggestion.nearest(to: entries[0].key, among: kinds) != nil { return nil }
        let words = entries.map { entry in
            let isKnown = Suggestion.nearest(to: entry.key, among: kinds) != nil
            return entry.name ?? (isKnown ? "'\(entry.key)'" : "an unknown key")
        }
        let found = words.isEmpty ? "nothing" : words.joined(separator: ", ")
        return node.problem(
            "'on_failure' must be a list of stages, found a map of \(found); begin each stage with '- ', such as "
                + "'- \(registry.remedy(for: .telling)?.entry ?? "kind: { option: value }")'")
    }

    /// How long a stage of `on_failure` may take unless it says so itself: a failed drop waits for it.
    private static let timeToTell = Duration.seconds(60)

    private mutating func stage(_ node: OptionNode, retry: RetryPolicy) -> PipelineDraft.Stage {
        switch node.content {
        case .scalar(let kind, _): return stage(kind, at: node.position, options: nil, retry: retry)
        case .map(let entries):
            guard let first = entries.first else { break }
            if let second = entries.dropFirst().first {
                let problem = second.problem(twoKinds(first, second))
                problems.append(OptionProblem(first.problem(problem.message).message, at: second.position))
                return PipelineDraft.Stage(
                    descriptor: registry.type(of: first.key)?.descriptor, position: first.position)
            }
            return stage(first.key, at: first.position, options: first.value, retry: retry)
        default: break
        }
        problems.append(
            node.problem("expected a stage, found \(node.kind); write '- kind' or '- kind: { option: value }'"))
        return PipelineDraft.Stage(descriptor: nil, position: node.position)
    }

    private func twoKinds(_ first: OptionNode.Entry, _ second: OptionNode.Entry) -> String {
        let options = registry.type(of: first.key).map { $0.descriptor.options.map(\.name) } ?? []
        let key = EscapedText.of(second.key)
        let kind = EscapedText.of(first.key)
        if (options + StageDescriptor.commonOptions).contains(second.key) {
            return "'\(key)' is beside '\(kind)', not inside it; indent it further than '\(kind)'"
        }
        return "'\(kind)' and '\(key)' are in one stage; begin each stage with '- '"
    }

    private mutating func stage(
        _ kind: String, at position: SourcePosition, options: OptionNode?, retry: RetryPolicy
    ) -> PipelineDraft.Stage {
        guard let type = registry.type(of: kind) else {
            let kinds = registry.descriptors.map(\.kind)
            let hint = Suggestion.nearest(to: kind, among: kinds).map { "did you mean '\($0)'?" }
            let list = "known stages: " + kinds.joined(separator: ", ")
            let message = Concealed.message("unknown stage '\(EscapedText.of(kind))'; \(hint ?? list)", about: kind)
            problems.append(OptionProblem(message, at: position))
            return PipelineDraft.Stage(descriptor: nil, position: position)
        }
        let descriptor = type.descriptor
        var stage = PipelineDraft.Stage(descriptor: descriptor, position: position)
        var entries: [OptionNode.Entry] = []
        switch options?.content {
        case nil, .null: break
        case .map(let all): entries = all
        default:
            let takesSecrets = descriptor.options.contains(where: \.takesSecrets)
            let found = (takesSecrets ? options?.kindAlone : options.map { EscapedText.of($0.kind) }) ?? ""
            let names = (descriptor.options.map(\.name) + StageDescriptor.commonOptions).joined(separator: ", ")
            problems.append(
                (options ?? OptionNode(.null, at: position)).problem(
                    "stage '\(kind)' takes a map of \(names); found \(found)"))
            return stage
        }
        let before = problems.count
        let common = common(entries, kind: kind, retry: retry)
        let own = entries.filter { !StageDescriptor.commonOptions.contains($0.key) }
        let context = OptionContext(
            base: base, facts: facts, forgotten: forgotten, environment: environment, services: registry.services)
        let read = StageOptions.read(own, of: descriptor, at: position, in: context)
        problems += read.problems
        guard let options = read.options else { return stage }
        stage.definition = PipelineDefinition.text(of: kind, entries, targets: options.pathTemplates.map(\.template))
        stage.templates = options.pathTemplates.map { option, template in
            let place = own.first { $0.key == option }?.value.position ?? position
            return (option, PipelineDraft.Placed(value: template, position: place))
        }
        do throws(OptionProblem) {
            let made = try type.init(options: options)
            // With a `when` it is known of those drops that skip it.
            if !made.keepsFacts, common.when == nil {
                for fact in facts { forgotten[fact] = kind }
                facts = []
            }
            facts.formUnion(made.facts)
            for fact in made.facts { forgotten[fact] = nil }
            everyFact.formUnion(made.facts)
            if problems.count == before {
                stage.entry = StageEntry(
                    kind: kind, stage: made, workers: common.workers, isFleetWide: common.isFleetWide,
                    when: common.when, timeout: common.timeout, retry: common.retry, targets: options.namedTargets)
            }
        } catch {
            problems.append(error)
        }
        return stage
    }

    /// What every stage takes besides its own options.
    private mutating func common(_ entries: [OptionNode.Entry], kind: String, retry: RetryPolicy) -> CommonOptions {
        let given = entries.filter { StageDescriptor.commonOptions.contains($0.key) }
        let node = OptionNode(.map(given), at: .start)
        let map = OptionMap(node, name: kind, keys: StageDescriptor.commonOptions, problems: &problems)
        var common = CommonOptions()
        common.timeout = map.read("timeout", problems: &problems) { node throws(OptionProblem) in
            let timeout = try node.duration()
            guard timeout > .zero else { throw node.problem("the timeout must not be zero; leave it out for no limit") }
            return timeout
        }
        common.retry = self.retry(map, over: retry)
        (common.workers, common.isFleetWide) = workers(map)
        common.when = condition(map)
        return common
    }

    /// `workers`: how many jobs it works on at once: here, or (`fleet`) on all nodes together.
    private mutating func workers(_ map: OptionMap) -> (count: Int, isFleetWide: Bool) {
        guard let entry = map.given("workers"), case .map = entry.value.content else {
            let cores = cores
            let count = map.read("workers", problems: &problems) { node throws(OptionProblem) in
                if node.content.text == "auto" { return cores }
                guard case .scalar(let text, quoted: false) = node.content, Int(text) != nil else {
                    throw node.problem("expected a whole number or 'auto', found \(node.kind)")
                }
                return try node.integer(in: Self.workers)
            }
            return (count ?? 1, false)
        }
        let own = OptionMap(entry.value, name: map.path(to: "workers"), keys: ["fleet"], problems: &problems)
        let count = own.read("fleet", problems: &problems) { node throws(OptionProblem) in
            try node.integer(in: Self.workers)
        }
        if own.given("fleet") == nil, !own.isMisspelt("fleet") {
            problems.append(
                OptionProblem(
                    "'\(map.path(to: "workers"))' needs 'fleet': how many jobs all nodes together work on at once",
                    at: entry.position))
        }
        return (count ?? 1, true)
    }

    /// How many workers a stage may have.
    static let workers = 1...256
}

extension PipelineDecoder {
    /// What `when` may look at.
    static func conditionKeys(_ registry: StageRegistry) -> [String] {
        ["name", "not", "path"] + conditionFacts(registry).map(\.name) + ["larger", "smaller"]
    }

    /// The facts among that, each with the kind that finds it out.
    private static func conditionFacts(_ registry: StageRegistry) -> [(name: String, kind: String)] {
        registry.descriptors.flatMap { descriptor in descriptor.conditions.map { ($0, descriptor.kind) } }
    }

    /// `when`: a pattern on the name, a list of them, or a map of conditions.
    private mutating func condition(_ map: OptionMap) -> Condition? {
        guard let entry = map.given("when") else { return nil }
        var condition = Condition()
        guard case .map = entry.value.content else {
            guard let names = globs("when", map) else { return nil }
            condition.names = names
            return condition
        }
        let keys = Self.conditionKeys(registry)
        let when = OptionMap(entry.value, name: map.path(to: "when"), keys: keys, problems: &problems)
        condition.names = globs("name", when) ?? []
        condition.exceptions = globs("not", when) ?? []
        condition.paths = globs("path", when) ?? []
        for (name, kind) in Self.conditionFacts(registry) {
            guard let patterns = globs(name, when), !patterns.isEmpty else { continue }
            condition.facts[name] = patterns
            guard !facts.contains(name), let given = when.given(name) else { continue }
            problems.append(
                OptionProblem(
                    "'\(when.path(to: name))' is not known here; put a stage '\(kind)' before this one"
                        + (forgotten[name].map { ", but after '\($0)'" } ?? ""), at: given.position))
        }
        condition.larger = when.read("larger", problems: &problems) { node throws(OptionProblem) in try node.size() }
        condition.smaller = when.read("smaller", problems: &problems) { node throws(OptionProblem) in try node.size() }
        if let larger = condition.larger, let smaller = condition.smaller, larger.bytes + 1 >= smaller.bytes {
            problems.append(
                OptionProblem(
                    "'\(when.name)': no drop is larger than \(larger) and smaller than \(smaller)", at: entry.position))
        }
        return condition
    }
}

/// What every stage takes besides its own options.
private struct CommonOptions {
    var workers = 1
    var isFleetWide = false
    var when: Condition?
    var timeout: Duration?
    var retry: RetryPolicy?
}
