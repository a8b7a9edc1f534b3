import Files
import PipelineKit

extension PipelineDecoder {
    /// `match`: which names are drops.
    mutating func match(_ map: OptionMap) -> MatchRule {
        let keys = ["include", "exclude", "depth"]
        let match = OptionMap(map.given("match")?.value, name: "match", keys: keys, problems: &problems)
        return MatchRule(
            include: globs("include", match, orNothing: "so nothing would be taken; leave it out to take everything")
                ?? MatchRule().include,
            exclude: globs("exclude", match) ?? [],
            depth: match.read("depth", problems: &problems, Self.depth) ?? MatchRule().depth)
    }

    /// `ready`: when a drop is complete.
    mutating func ready(_ map: OptionMap) -> ReadyRule {
        let keys = [
            "quiet", "writers", "marker", "manifest", "complete", "timeout", "unit", "empty", "max_size", "max_entries",
            "max_depth",
        ]
        let ready = OptionMap(map.given("ready")?.value, name: "ready", keys: keys, problems: &problems)
        var rule = ReadyRule(
            quiet: ready.read("quiet", problems: &problems) { node throws(OptionProblem) in
                let quiet = try node.duration()
                guard quiet >= .milliseconds(1) else {
                    throw node.problem("a drop must stand unchanged for some time to be complete; write at least 1ms")
                }
                return quiet
            })
        rule.writers =
            ready.read("writers", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: ReadyRule.Writers.self)
            } ?? rule.writers
        rule.empty =
            ready.read("empty", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: ReadyRule.Empty.self)
            } ?? rule.empty
        rule.unit =
            ready.read("unit", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: ReadyRule.Unit.self)
            } ?? rule.unit
        rule.complete =
            ready.read("complete", problems: &problems) { node throws(OptionProblem) in
                try node.choice(of: ReadyRule.Complete.self)
            } ?? rule.complete
        rule.marker = ready.read("marker", problems: &problems) { node throws(OptionProblem) in
            let template = try node.template(for: .name)
            do throws(TemplateProblem) {
                return try MarkerRule(template)
            } catch {
                throw node.problem(error.message)
            }
        }
        rule.timeout = timeout(ready, longerThan: rule.quiet)
        rule.manifest = manifest(ready, rule)
        rule.limits = limits(ready)
        return rule
    }

    private mutating func timeout(_ ready: OptionMap, longerThan quiet: Duration) -> Duration? {
        ready.read("timeout", problems: &problems) { node throws(OptionProblem) in
            let timeout = try node.duration()
            guard timeout > quiet else {
                throw node.problem(
                    "no drop can be complete within \(timeout.text), because it must stand unchanged for "
                        + "\(quiet.text) (ready.quiet); write a longer time")
            }
            return timeout
        }
    }

    private mutating func limits(_ ready: OptionMap) -> ReadyRule.Limits {
        var limits = ReadyRule.Limits()
        limits.size = ready.read("max_size", problems: &problems) { node throws(OptionProblem) in try node.size() }
        limits.entries =
            ready.read("max_entries", problems: &problems) { node throws(OptionProblem) in
                try node.integer(in: 1...Int(Int32.max))
            } ?? limits.entries
        limits.depth =
            ready.read("max_depth", problems: &problems) { node throws(OptionProblem) in
                try node.integer(in: ReadyRule.Limits.depths)
            } ?? limits.depth
        return limits
    }

    private mutating func manifest(_ ready: OptionMap, _ rule: ReadyRule) -> Glob? {
        ready.read("manifest", problems: &problems) { node throws(OptionProblem) in
            let glob = try node.glob()
            guard rule.unit == .folder else {
                throw node.problem("only a folder can contain a manifest; add 'unit: folder', or leave it out")
            }
            return glob
        }
    }

    /// `upload` and `max_upload`: what may be sent in through the page.
    mutating func upload(_ map: OptionMap) -> UploadRule? {
        let isAllowed = map.read("upload", problems: &problems) { node throws(OptionProblem) in try node.bool() }
        let most = map.read("max_upload", problems: &problems) { node throws(OptionProblem) in
            let most = try node.size()
            guard most.bytes > 0 else { throw node.problem("nothing could be sent in; write a larger size") }
            return most
        }
        if let entry = map.given("max_upload"), map.given("upload") == nil, !map.isMisspelt("upload") {
            problems.append(
                OptionProblem("'max_upload' needs 'upload: true', which lets files be sent in", at: entry.position))
        }
        return isAllowed == true ? UploadRule(most: most ?? .maxUpload) : nil
    }

    /// `active`: how much is claimed at once.
    mutating func active(_ map: OptionMap, _ draft: inout PipelineDraft) {
        let active = OptionMap(
            map.given("active")?.value, name: "active", keys: ["jobs", "bytes"], problems: &problems)
        draft.activeBytes = active.read("bytes", problems: &problems) { node throws(OptionProblem) in try node.size() }
        draft.activeJobs =
            active.read("jobs", problems: &problems) { node throws(OptionProblem) in
                try node.integer(in: 1...100_000)
            } ?? draft.activeJobs
    }

    /// `retry`, of the pipeline or of a stage; what is not given is as in `fallback`. Nil where there is no such key.
    mutating func retry(_ map: OptionMap, over fallback: RetryPolicy) -> RetryPolicy? {
        guard let entry = map.given("retry") else { return nil }
        let name = map.path(to: "retry")
        let retry = OptionMap(
            entry.value, name: name, keys: ["attempts", "backoff", "max_backoff"], problems: &problems)
        let attempts = retry.read("attempts", problems: &problems) { node throws(OptionProblem) in
            try node.integer(in: 1...100)
        }
        let backoff = retry.read("backoff", problems: &problems) { node throws(OptionProblem) in try node.duration() }
        let longest = retry.read("max_backoff", problems: &problems) { node throws(OptionProblem) in
            try node.duration()
        }
        let policy = RetryPolicy(
            attempts: attempts ?? fallback.attempts, backoff: backoff ?? fallback.backoff,
            maxBackoff: longest ?? fallback.maxBackoff)
        if policy.backoff > policy.maxBackoff {
            let (first, most) = (policy.backoff.text, policy.maxBackoff.text)
            let place = retry.given("max_backoff") ?? retry.given("backoff") ?? entry
            problems.append(
                OptionProblem(
                    "'\(name)': backoff (\(first)) is longer than max_backoff (\(most)); "
                        + "make max_backoff at least as long", at: place.position))
        }
        return policy
    }

    /// Patterns, one or a list; nil where the key is not given.
    mutating func globs(_ key: String, _ map: OptionMap, orNothing consequence: String? = nil) -> [Glob]? {
        map.read(key, problems: &problems) { node throws(OptionProblem) in
            var globs: [Glob] = []
            for member in node.members {
                let glob = try member.glob()
                if consequence != nil, let reason = IgnoredNames.reason(forAll: glob) {
                    throw member.problem(
                        "'\(EscapedText.of(glob.pattern))' matches only names that are never taken "
                            + "(\(reason)); leave it out")
                }
                globs.append(glob)
            }
            if globs.isEmpty, let consequence { throw node.problem("the list is empty, \(consequence)") }
            return globs
        }
    }

    /// A number of levels; `Int.max` for `all`.
    private static func depth(_ node: OptionNode) throws(OptionProblem) -> Int {
        if node.content.text == "all" { return .max }
        guard case .scalar(let text, quoted: false) = node.content, Int(text) != nil else {
            throw node.problem("expected a whole number or 'all', found \(node.kind)")
        }
        return try node.integer(in: 1...1000)
    }
}
