import PipelineKit

extension PipelineDecoder {
    /// `keep`: how long originals stay where they were left.
    mutating func keep(_ map: OptionMap, _ draft: PipelineDraft) -> KeepRule? {
        guard let entry = map.given("keep") else { return nil }
        let before = problems.count
        let keep = OptionMap(
            entry.value, name: "keep", keys: ["processed", "failed", "when_short"], problems: &problems)
        if draft.processed?.value == .delete, let place = keep.given("processed") {
            problems.append(
                OptionProblem(
                    "'keep.processed' has nothing to keep with 'processed: delete'; leave it out, or give 'processed' "
                        + "a folder", at: place.position))
        }
        let prunesWhenShort = keep.read("when_short", problems: &problems) { node throws(OptionProblem) in
            guard try node.string() == "prune" else { throw node.problem("expected 'prune', or nothing") }
            guard draft.minFree.bytes > 0 else {
                throw node.problem("with 'min_free: 0' space is never short; give 'min_free' a size, or leave it out")
            }
            return true
        }
        if keep.given("processed") == nil, keep.given("failed") == nil, problems.count == before {
            problems.append(
                entry.value.problem(
                    "'keep' says neither of 'processed' nor of 'failed' what stays there; write 'processed: { age: "
                        + "90d }' into it, or leave it out"))
        }
        return KeepRule(
            processed: limits("processed", keep), failed: limits("failed", keep),
            prunesWhenShort: prunesWhenShort ?? false)
    }

    private mutating func limits(_ key: String, _ keep: OptionMap) -> KeepRule.Limits? {
        guard let entry = keep.given(key) else { return nil }
        let before = problems.count
        let map = OptionMap(entry.value, name: "keep.\(key)", keys: ["age", "bytes", "files"], problems: &problems)
        let limits = KeepRule.Limits(
            age: map.read("age", problems: &problems) { node throws(OptionProblem) in
                let age = try node.duration()
                guard age > .zero else { throw node.problem("nothing would be kept; write more, such as 90d") }
                return age
            },
            bytes: map.read("bytes", problems: &problems) { node throws(OptionProblem) in
                let size = try node.size()
                guard size.bytes > 0 else { throw node.problem("nothing would be kept; write more, such as 500GiB") }
                return size
            },
            files: map.read("files", problems: &problems) { node throws(OptionProblem) in
                try node.integer(in: 1...1_000_000_000)
            })
        if limits == KeepRule.Limits(), problems.count == before {
            problems.append(
                entry.value.problem(
                    "'keep.\(key)' says no limit; write 'age: 90d', 'bytes: 500GiB' or 'files: 1000000' into it, or "
                        + "leave it out"))
        }
        return limits
    }
}
