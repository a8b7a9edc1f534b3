import PipelineKit

/// Stage kinds laid out for people, programs and README.
enum StageListing {
    /// A paragraph for each kind.
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
        lines.append(
            """
            Every stage also takes:
              workers  how many jobs it works on at once: a number, or auto (one per core); default 1
              when     a glob, or { name, not, path, type, larger, smaller }: other drops skip the stage; default all
              timeout  how long a run may take before it is called off, such as 10m; default no limit
              retry    { attempts, backoff, max_backoff } for failures that may pass; default as the pipeline has it
            """)
        return lines.joined(separator: "\n")
    }

    /// README's table.
    static func markdown(_ descriptors: [StageDescriptor]) -> String {
        var lines = ["| stage | what it does | options (default) |", "|---|---|---|"]
        for descriptor in descriptors {
            let options = descriptor.options.map { option in
                let fallback = option.isRequired ? "required" : option.fallbackText
                return "`\(option.name)`: \(cell(option.summary))" + (fallback.isEmpty ? "" : " (\(cell(fallback)))")
            }
            lines.append(
                "| `\(descriptor.kind)` | \(cell(descriptor.summary)) | \(options.joined(separator: "<br>")) |")
        }
        return lines.joined(separator: "\n")
    }

    /// An array of objects.
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
