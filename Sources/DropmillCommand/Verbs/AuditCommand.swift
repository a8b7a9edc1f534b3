import ArgumentParser
import Files
import Journal
import PipelineConfig
import PipelineKit

/// `dropmill audit`: who changed what.
struct AuditCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "audit",
        abstract: "List what people changed: when, who, what and with which result.",
        discussion: """
            Newest first. Exits with status 1 if there is nothing.

            Example: who paused something today:

              dropmill audit --since 24h
            """)

    @Option(
        help: ArgumentHelp("Only changes since: 2h ago, 7d ago, or a date such as 2026-11-01.", valueName: "time"),
        transform: TimeArgument.past)
    var since: Timestamp?

    @Option(parsing: .unconditional, help: "How many changes to list at most.")
    var limit = 50

    @Flag(help: "Print a JSON array, one object for each change.")
    var json = false

    @OptionGroup var folder: StateFolderOption

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() throws {
        let entries = try folder.folder.read { journal throws(JournalError) in
            try journal.audit(since: since, limit: limit)
        }
        if json {
            print(Self.json(entries))
        } else if !entries.isEmpty {
            var table = TextTable([("TIME", .left), ("USER", .left), ("VERB", .left), ("RESULT", .left)])
            for entry in entries {
                let line = AuditLine(entry)
                let result = EscapedText.printable("→ \(entry.result ?? "not finished")")
                let rest = line.arguments.isEmpty ? result : "\(line.arguments) \(result)"
                table.add([entry.at.localText, "\(entry.name) (\(entry.user))", line.verb, rest])
            }
            for line in table.lines { print(line) }
        }
        guard entries.isEmpty else { return }
        if !json { StandardError.print("nothing was changed") }
        throw ExitStatus.failure
    }

    private static func json(_ entries: [AuditEntry]) -> String {
        var json = JSONText()
        json.array { json in
            for entry in entries {
                json.object { json in
                    json.text("time", entry.at.iso8601)
                    json.integer("uid", Int64(entry.user))
                    json.text("user", entry.name)
                    json.text("verb", entry.verb)
                    json.text("arguments", entry.arguments)
                    if let result = entry.result { json.text("result", result) }
                }
            }
        }
        return json.string
    }
}
