import ArgumentParser
import Control
import Files
import Journal

/// `dropmill jobs`: the journal's jobs, newest first.
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "List jobs, newest first.",
        discussion: """
            Exits with status 1 if no job matches.

            Example: which PDF files failed within the last two hours:

              dropmill jobs --state failed --since 2h --name '*.pdf'
            """)

    @OptionGroup var filters: JobFilters
    @OptionGroup var folder: StateFolderOption
    @OptionGroup var journal: JournalOption

    @Option(parsing: .unconditional, help: "How many jobs to list at most.")
    var limit = 50

    @Flag(help: "Print a JSON array, one object for each job.")
    var json = false

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() throws {
        let query = query
        let folder = folder.folder.with(journal)
        let (records, surroundings, strange) = try folder.read { journal throws(JournalError) in
            (
                try journal.jobs(query), try JobSurroundings(journal, isRunning: folder.isAtWork(journal)),
                try filters.strange(in: journal)
            )
        }
        if json {
            print(JobJSON.list(records, surroundings))
        } else if !records.isEmpty {
            for line in JobTable.lines(records, surroundings, now: .now()) { print(line) }
            if records.count == limit { StandardError.print("(the newest \(limit); --limit shows more)") }
        }
        guard records.isEmpty else { return }
        if !json { StandardError.print(strange ?? "no job matches") }
        throw ExitStatus.failure
    }

    var query: JobQuery {
        var query = filters.query
        query.limit = limit
        return query
    }
}
