import ArgumentParser
import Journal

/// `dropmill nodes`: who shares a journal.
struct NodesCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "nodes",
        abstract: "List the nodes that share a journal: who is alive, what each has at work, what it pauses and why.",
        discussion: """
            One that is dead is listed as long as it has jobs that no other node has taken over. Exits with status 1 \
            if there is none.

            Example:

              dropmill nodes --journal postgresql://db.example.org/dropmill
            """)

    @OptionGroup var journal: JournalOption

    @Flag(help: "Also list those that are dead and have left nothing.")
    var all = false

    @Flag(help: "Print one JSON object: 'nodes'.")
    var json = false

    func validate() throws { _ = try journal.needed() }

    func run() throws {
        let report = try StateFolder(given: nil).with(journal).read { journal throws(JournalError) in
            try NodesReport(journal, all: all)
        }
        if json {
            print(report?.json ?? "")
        } else if let report, !report.nodes.isEmpty {
            for line in report.lines { print(line) }
        }
        guard report?.nodes.isEmpty ?? true else { return }
        if !json { StandardError.print("no node is alive") }
        throw ExitStatus.failure
    }
}
