import ArgumentParser
import Control
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

    @Option(help: "Only changes by this user, by name or number, or for whom `serve` asked by this name.")
    var user: String?

    @Option(help: "Only changes by this verb, such as pause.")
    var verb: String?

    @Option(help: "Only changes in whose verb, arguments or result this occurs.")
    var text: String?

    @Option(parsing: .unconditional, help: "How many changes to list at most.")
    var limit = 50

    @Flag(help: "Print a JSON array, one object for each change.")
    var json = false

    @OptionGroup var folder: StateFolderOption
    @OptionGroup var journal: JournalOption

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() throws {
        var query = AuditQuery(since: since, limit: limit)
        (query.user, query.text) = (user, text)
        query.choose(verb: verb)
        let entries = try folder.folder.with(journal).read { [query] journal throws(JournalError) in
            try journal.audit(query)
        }
        if json {
            print(Self.json(entries))
        } else if !entries.isEmpty {
            var table = TextTable([("TIME", .left), ("USER", .left), ("VERB", .left), ("RESULT", .left)])
            for entry in entries {
                let line = AuditLine(entry)
                let result = EscapedText.printable("→ \(entry.result ?? "not finished")")
                let rest = line.arguments.isEmpty ? result : "\(line.arguments) \(result)"
                table.add([entry.at.localText, Self.who(entry), line.verb, rest])
            }
            for line in table.lines { print(line) }
        }
        guard entries.isEmpty else { return }
        if !json { StandardError.print("nothing was changed") }
        throw ExitStatus.failure
    }

    /// `anna (1004)`; `dropmill-web (998) for anna-laptop (operate, 10.2.0.14)`.
    private static func who(_ entry: AuditEntry) -> String {
        let user = "\(entry.name) (\(entry.user))"
        guard let behalf = entry.behalf else { return user }
        let rest = [behalf.role, behalf.address].filter { !$0.isEmpty }.joined(separator: ", ")
        return EscapedText.printable("\(user) for \(behalf.name)" + (rest.isEmpty ? "" : " (\(rest))"))
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
                    if let behalf = entry.behalf {
                        json.object("for") { json in
                            json.text("name", behalf.name)
                            json.text("role", behalf.role)
                            json.text("address", behalf.address)
                        }
                    }
                }
            }
        }
        return json.string
    }
}
