import Files
import PipelineKit
import SystemPackage

/// Reads `history`: how long the journal keeps jobs that are over.
enum HistoryDecoder {
    private static let ages = [
        ("processed", "how long jobs are kept that were processed"),
        ("failed", "how long those are kept that failed"),
        ("cancelled", "how long those are kept that a person called off or released"),
    ]

    static let keys =
        ages.map { PipelineKey($0.0, .value(.time), $0.1, default: .text("90d")) } + [
            PipelineKey(
                "jobs", .value(.integer(1...1_000_000_000)), "the oldest go where there are more; unless given, none"),
            PipelineKey("bytes", .value(.size), "the oldest go where the journal is larger; unless given, none"),
            PipelineKey(
                "archive", .value(.text),
                "the folder of the files to which they are added before they go; unless given, none"
            ),
        ]

    /// What is smaller holds hardly more than the tables.
    private static let leastBytes: Int64 = 1 << 20

    static func rule(
        _ entry: OptionNode.Entry, in context: OptionContext, _ problems: inout [OptionProblem]
    ) -> HistoryRule {
        var rule = HistoryRule()
        let map = OptionMap(entry.value, name: "history", keys: keys.map(\.name), problems: &problems)
        func age(_ key: String) -> Duration {
            map.read(key, problems: &problems) { node throws(OptionProblem) in
                let age = try node.duration()
                guard age >= .seconds(60) else {
                    throw node.problem("too short to see what became of a job; write at least 1m")
                }
                return age
            } ?? HistoryRule.usual
        }
        (rule.processed, rule.failed, rule.cancelled) = (age("processed"), age("failed"), age("cancelled"))
        rule.jobs = map.read("jobs", problems: &problems) { node throws(OptionProblem) in
            try node.integer(in: 1...1_000_000_000)
        }
        rule.bytes = map.read("bytes", problems: &problems) { node throws(OptionProblem) in
            let bytes = try node.size().bytes
            guard bytes >= leastBytes else { throw node.problem("too small for a journal; write at least 1MiB") }
            return bytes
        }
        rule.archive = map.read("archive", problems: &problems) { node throws(OptionProblem) in
            let text = try node.string()
            guard !text.isEmpty, !text.utf8.contains(0) else { throw node.problem("name a folder") }
            return context.base.pushing(FilePath(text)).lexicallyNormalized()
        }
        return rule
    }
}
