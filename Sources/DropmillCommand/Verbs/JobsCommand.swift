import ArgumentParser
import Files
import Journal
import PipelineKit
import SystemPackage

/// `dropmill jobs`: the journal's jobs, newest first.
struct JobsCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "jobs",
        abstract: "List jobs, newest first.",
        discussion: """
            Exits with status 1 if no job matches.

            Example: what failed within the last two hours:

              dropmill jobs --state failed --since 2h
            """)

    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            "Only jobs in these states, separated by commas: \(Self.words.joined(separator: ", ")).",
            valueName: "states"),
        transform: Self.states)
    var states: [[JobRecord.State]] = []

    @Option(help: "Only jobs of this pipeline.")
    var pipeline: String?

    @Option(
        help: ArgumentHelp(
            "Only jobs claimed since: 2h ago, 7d ago, or a date such as 2026-11-01 or 2026-11-01T14:30.",
            valueName: "time"),
        transform: TimeArgument.past)
    var since: Timestamp?

    @OptionGroup var folder: StateFolderOption

    @Option(help: "How many jobs to list at most.")
    var limit = 50

    @Flag(help: "Print a JSON array, one object for each job.")
    var json = false

    private static let words = JobRecord.State.allCases.map(\.rawValue)

    func validate() throws {
        if limit < 1 { throw ValidationError("--limit must be at least 1") }
    }

    func run() throws {
        let query = query
        let folder = folder.folder
        let (records, surroundings) = try folder.read { journal throws(JournalError) in
            (try journal.jobs(query), JobSurroundings(of: try journal.pipelines(), isRunning: folder.isHeldIfKnown))
        }
        if json {
            print(JobJSON.list(records, surroundings))
        } else if !records.isEmpty {
            for line in JobTable.lines(records, surroundings, now: .now()) { print(line) }
            if records.count == limit { StandardError.print("(the newest \(limit); --limit shows more)") }
        }
        guard records.isEmpty else { return }
        if !json { StandardError.print("no job matches") }
        throw ExitStatus.failure
    }

    var query: JobQuery {
        var query = JobQuery()
        query.states = states.flatMap { $0 }
        query.pipeline = pipeline
        query.since = since
        query.limit = limit
        return query
    }

    @Sendable private static func states(_ text: String) throws -> [JobRecord.State] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            if let state = JobRecord.State(rawValue: String(word)) { return state }
            guard word != "waiting" else {
                throw ValidationError("drops wait in the inbox, jobs are 'queued'; 'dropmill status' shows both")
            }
            let hint = Suggestion.nearest(to: String(word), among: words).map { "did you mean '\($0)'?" }
            throw ValidationError(
                "'\(word)' is not a job state; \(hint ?? "known states: " + words.joined(separator: ", ")) "
                    + "(the state folder is given with --state-dir)")
        }
    }
}
