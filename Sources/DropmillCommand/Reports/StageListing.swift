import PipelineKit

/// Stage kinds laid out for people, programs, README and docs/stages.md.
enum StageListing {
    static func text(_ descriptors: [StageDescriptor]) -> String {
        var lines: [String] = []
        for descriptor in descriptors {
            lines.append("\(descriptor.kind): \(descriptor.summary)")
            let width = descriptor.options.map(\.name.count).max() ?? 0
            for option in descriptor.options {
                let name = option.name + String(repeating: " ", count: width - option.name.count)
                lines.append("  \(name)  \(option.summary)")
                let fallback = option.fallbackText.isEmpty ? "" : "; default \(option.fallbackText)"
                let rest = option.isRequired ? "; required" : fallback
                lines.append("  \(String(repeating: " ", count: width))  takes \(option.takes)\(rest)")
            }
            lines.append("  Example:")
            lines += descriptor.example.split(separator: "\n").map { "    \($0)" }
            lines.append("")
        }
        lines.append("Every stage also takes:")
        let width = common.map { $0.name.count }.max() ?? 0
        lines += common.map { "  \($0.name.padded(to: width))  \($0.meaning)" }
        return lines.joined(separator: "\n")
    }

    /// What every stage takes.
    static let common: [(name: String, meaning: String)] = [
        ("workers", "how many jobs it works on at once: a number, or auto (one per core); default 1"),
        ("when", "a glob, or { name, not, path, archive, type, larger, smaller }: other drops skip it; default all"),
        ("timeout", "how long a run may take before it is cancelled, such as 10m; default no limit"),
        ("retry", "{ attempts, backoff, max_backoff } for transient failures; default as in the pipeline"),
    ]

    static func brief(_ descriptors: [StageDescriptor]) -> String {
        let width = descriptors.map(\.kind.count).max() ?? 0
        return descriptors.map { descriptor in
            let kind = descriptor.kind + String(repeating: " ", count: width - descriptor.kind.count)
            return "\(kind)  \(descriptor.summary)"
        }.joined(separator: "\n")
    }

    /// A section for each kind, as in docs/stages.md.
    static func markdown(_ descriptors: [StageDescriptor]) -> String {
        descriptors.map { descriptor in
            var lines = ["### \(descriptor.kind)", "", descriptor.summary, ""]
            if !descriptor.options.isEmpty {
                lines += ["| option | meaning | takes | default |", "|---|---|---|---|"]
                lines += descriptor.options.map { option in
                    let fallback = option.isRequired ? "required" : option.fallbackText
                    return "| `\(option.name)` | \(cell(option.summary)) | \(cell(option.takes)) | \(cell(fallback)) |"
                }
                lines.append("")
            }
            return (lines + ["```yaml", descriptor.example, "```"]).joined(separator: "\n")
        }.joined(separator: "\n\n")
    }

    /// A row for each kind, as in README.
    static func briefMarkdown(_ descriptors: [StageDescriptor]) -> String {
        let rows = descriptors.map { descriptor in
            "| [`\(descriptor.kind)`](docs/stages.md#\(descriptor.kind)) | \(cell(descriptor.summary)) |"
        }
        return (["| stage | what it does |", "|---|---|"] + rows).joined(separator: "\n")
    }

    static func json(_ descriptors: [StageDescriptor]) -> String {
        var json = JSONText()
        json.array { json in
            for descriptor in descriptors {
                json.object { json in
                    json.text("kind", descriptor.kind)
                    json.text("summary", descriptor.summary)
                    json.array("options") { json in
                        for option in descriptor.options { write(option, &json) }
                    }
                    json.text("example", descriptor.example)
                }
            }
        }
        return json.string
    }

    private static func write(_ option: AnyStageOption, _ json: inout JSONText) {
        json.object { json in
            json.text("name", option.name)
            json.text("summary", option.summary)
            json.text("takes", option.takes)
            json.text("default", option.isRequired ? "" : option.fallbackText)
            json.flag("required", option.isRequired)
        }
    }

    private static func cell(_ text: String) -> String {
        text.split(separator: "|", omittingEmptySubsequences: false).joined(separator: "\\|")
    }
}
