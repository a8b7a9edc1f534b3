import Files
import Glibc
import PipelineKit

// What a pipeline's drops have to share, and which come first.
extension PipelineDecoder {
    /// `fair`: how producers share the pipeline.
    mutating func fair(_ map: OptionMap, _ draft: PipelineDraft) -> FairRule? {
        guard let entry = map.given("fair") else { return nil }
        let fair = OptionMap(entry.value, name: "fair", keys: ["by", "weight", "active"], problems: &problems)
        let by = fair.read("by", problems: &problems, Self.producer)
        if fair.given("by") == nil, !fair.isMisspelt("by"), case .map = entry.value.content {
            problems.append(
                OptionProblem(
                    "'fair' needs 'by': folder, owner, or a pattern with one '*' such as '*_invoice.pdf'",
                    at: entry.position))
        }
        if by == .folder, let place = fair.given("by")?.value {
            if draft.ready.unit == .folder {
                problems.append(
                    place.problem("with 'ready.unit: folder' every drop lies in the inbox itself; write 'by: owner'"))
            } else if draft.match.depth == 1 {
                problems.append(
                    place.problem(
                        "only the inbox is searched, so all drops have one producer; add 'match: { depth: 2 }'"
                    ))
            }
        }
        var rule = FairRule(by: by ?? .folder)
        rule.weights =
            fair.read("weight", problems: &problems) { node throws(OptionProblem) in
                try Self.weights(node, by)
            } ?? [:]
        rule.active = fair.read("active", problems: &problems) { node throws(OptionProblem) in
            let most = try node.integer(in: 1...100_000)
            guard most <= draft.activeJobs else {
                throw node.problem(
                    "more than all producers together may have (active.jobs: \(draft.activeJobs)); write a "
                        + "smaller number")
            }
            return most
        }
        return by == nil ? nil : rule
    }

    private static func producer(_ node: OptionNode) throws(OptionProblem) -> FairRule.By {
        let text = try node.string()
        switch text {
        case "folder": return .folder
        case "owner": return .owner
        default: break
        }
        guard !text.contains("/") else {
            throw node.problem("the pattern is compared with the name alone; leave out '/', or write 'folder'")
        }
        guard let by = FairRule.By(pattern: text) else {
            let stars = text.count { $0 == "*" }
            throw node.problem(
                stars == 0
                    ? "expected 'folder', 'owner' or a pattern with one '*', found '\(EscapedText.of(text))'"
                    : "the pattern has \(stars) '*'; what stands for the one '*' is the producer, so leave one")
        }
        return by
    }

    private static func weights(_ node: OptionNode, _ by: FairRule.By?) throws(OptionProblem) -> [String: Int] {
        guard case .map(let entries) = node.content else {
            throw node.problem("expected a map of producers with a number each, found \(node.kind)")
        }
        var weights: [String: Int] = [:]
        for entry in entries {
            var name = EscapedText.of(entry.key)
            if by == .owner, entry.key.withCString({ getpwnam($0) }) == nil, UInt32(entry.key) == nil {
                throw entry.problem("there is no user '\(name)'; correct the name, or leave it out")
            }
            // As drops have it: by its name, where it has one.
            if by == .owner, let user = UInt32(entry.key) { name = AccountName.user(user) }
            if by == .folder, entry.key != FairRule.inbox, FileName(Array(entry.key.utf8)) == nil {
                throw entry.problem("'\(name)' is not the name of a folder in the inbox; write its name alone")
            }
            weights[name] = try entry.value.integer(in: 1...FairRule.mostWeight)
        }
        return weights
    }

    /// `priority` and `aging`: which drops come first.
    mutating func priority(_ map: OptionMap) -> PriorityRule? {
        let aging = map.read("aging", problems: &problems) { node throws(OptionProblem) in
            let aging = try node.duration()
            guard aging > .zero else {
                throw node.problem("nothing would come before anything else; write a longer time")
            }
            return aging
        }
        if let entry = map.given("aging"), map.given("priority") == nil, !map.isMisspelt("priority") {
            problems.append(
                OptionProblem("'aging' needs 'priority', which says what comes first", at: entry.position))
        }
        guard let entry = map.given("priority") else { return nil }
        let entries = entry.value.members.compactMap { priority($0) }
        guard !entries.isEmpty else { return nil }
        return aging.map { PriorityRule(entries, aging: $0) } ?? PriorityRule(entries)
    }

    private mutating func priority(_ node: OptionNode) -> PriorityRule.Entry? {
        let map = OptionMap(node, name: "priority", keys: ["match", "path", "level"], problems: &problems)
        guard case .map = node.content else { return nil }
        let level = map.read("level", problems: &problems) { node throws(OptionProblem) in
            try node.integer(in: PriorityRule.levels)
        }
        let globs = ["match", "path"].map { key in
            map.read(key, problems: &problems) { node throws(OptionProblem) in
                let glob = try node.glob()
                guard key == "path" || !glob.pattern.contains("/") else {
                    throw node.problem("it is compared with the name alone; leave out '/', or write 'path'")
                }
                return glob
            }
        }
        let given = ["match", "path", "level"].map { map.given($0) != nil || map.isMisspelt($0) }
        if given[0] == given[1] {
            problems.append(
                node.problem("an entry of 'priority' needs 'match' (a pattern of names) or 'path', and not both"))
        } else if !given[2] {
            problems.append(node.problem("an entry of 'priority' needs 'level', a number; other drops have 0"))
        }
        guard let level, let glob = globs[0] ?? globs[1] else { return nil }
        return PriorityRule.Entry(glob, isOfPath: globs[0] == nil, level: level)
    }
}
