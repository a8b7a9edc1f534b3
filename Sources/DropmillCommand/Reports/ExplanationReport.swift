import Control
import PipelineConfig
import PipelineKit

/// What a daemon does with a file, and what it will do after a reload where its files have changed.
struct ExplanationReport {
    let explanation: Explanation
    /// What is not loaded.
    var differences: [FilesVerb.Difference] = []
    /// As the files say it; nil where that is the same.
    var after: Explanation?
    /// What of its pipeline a reload changes, although what is said of the file is the same.
    var change: String?
    /// Why a reload would be refused.
    var problems: [ConfigProblem] = []
    /// Whether what is in force is not known here, so that the files are explained instead.
    var isOfFiles = false

    var lines: [String] {
        var lines = explanation.lines
        guard !differences.isEmpty else { return lines }
        lines.append("")
        lines += differences.map { $0.text(now: explanation.now) }
        if isOfFiles { lines.append("What is in force may differ: the daemon tells that to its own user and to root.") }
        if !problems.isEmpty {
            lines += ["A reload would be refused:"] + problems.map { "  \($0)" }
        } else if let after {
            lines += ["After 'dropmill reload':"] + after.lines.map { $0.isEmpty ? "" : "  \($0)" }
        } else if let change {
            lines.append("After 'dropmill reload' it goes the same way, with what is new in the pipeline: \(change).")
        } else if !isOfFiles {
            lines.append("After 'dropmill reload' nothing changes for this file.")
        }
        return lines
    }

    /// The keys of `Explanation`, with `not_loaded`, and `after_reload`, `change` or `problems`.
    var json: String {
        var json = JSONText()
        json.object { json in
            explanation.write(&json)
            guard !differences.isEmpty else { return }
            json.array("not_loaded") { json in
                for difference in differences { json.object { difference.write(&$0) } }
            }
            if let after { json.object("after_reload") { after.write(&$0) } }
            if let change { json.text("change", change) }
            guard !problems.isEmpty else { return }
            json.array("problems") { json in
                for problem in problems { json.text(nil, problem.description) }
            }
        }
        return json.string
    }
}
