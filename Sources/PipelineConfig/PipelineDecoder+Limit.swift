import Files
import PipelineKit

extension PipelineDecoder {
    /// `limit`: how fast drops are claimed.
    mutating func limit(_ map: OptionMap) -> LimitRule? {
        guard let entry = map.given("limit") else { return nil }
        let before = problems.count
        let limit = OptionMap(entry.value, name: "limit", keys: ["jobs", "bytes"], problems: &problems)
        let rule = LimitRule(
            jobs: limit.read("jobs", problems: &problems) { node throws(OptionProblem) in
                try Self.rate(node, such: "100/min") { node throws(OptionProblem) in
                    Int64(try node.integer(in: Int.min...1_000_000_000))
                }
            },
            bytes: limit.read("bytes", problems: &problems) { node throws(OptionProblem) in
                try Self.rate(node, such: "50MiB/s") { node throws(OptionProblem) in try node.size().bytes }
            })
        guard rule == LimitRule() else { return rule }
        if problems.count == before {
            problems.append(
                entry.value.problem(
                    "'limit' says no rate; write 'jobs: 100/min' or 'bytes: 50MiB/s' into it, or leave it out"))
        }
        return nil
    }

    /// An amount, a slash and a time.
    private static func rate(
        _ node: OptionNode, such example: String, _ amount: (OptionNode) throws(OptionProblem) -> Int64
    ) throws(OptionProblem) -> LimitRule.Rate {
        let text = try node.string()
        let units = LimitRule.Rate.times
        let parts = text.split(separator: "/", omittingEmptySubsequences: false)
        guard parts.count == 2, let unit = units.first(where: { $0.name == parts[1] }) else {
            throw node.problem(
                "'\(EscapedText.of(text))' is not a rate; write how much within a time, such as \(example); times are "
                    + units.map(\.name).joined(separator: ", "))
        }
        let count = try amount(OptionNode(.scalar(String(parts[0]), quoted: false), at: node.position))
        guard count > 0 else { throw node.problem("nothing would ever be claimed; write more, or pause the pipeline") }
        return LimitRule.Rate(count, per: unit.time, text: text)
    }
}
