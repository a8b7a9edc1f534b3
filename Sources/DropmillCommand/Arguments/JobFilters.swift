import ArgumentParser
import Files
import Journal
import PipelineKit

/// Which jobs a verb is about, by what the journal knows of them.
struct JobFilters: ParsableArguments {
    @Option(
        name: .customLong("state"),
        help: ArgumentHelp(
            "Only jobs in these states, separated by commas: \(Self.words.joined(separator: ", ")).",
            valueName: "states"),
        transform: Self.states)
    var states: [[String]] = []

    @Option(help: "Only jobs of this pipeline.", completion: Completion.pipelines)
    var pipeline: String?

    @Option(help: "Only drops of this producer, as 'show --json' has it.")
    var producer: String?

    @Option(
        name: .customLong("name"),
        help: ArgumentHelp(
            "Only drops with such names, such as '*.pdf'; with a '/' it is about their paths in the inbox.",
            valueName: "glob"),
        transform: Self.pattern)
    var pattern: Glob?

    @Option(
        help: ArgumentHelp(
            "Only jobs claimed since: 2h ago, 7d ago, or a date such as 2026-11-01 or 2026-11-01T14:30.",
            valueName: "time"),
        transform: TimeArgument.past)
    var since: Timestamp?

    @Option(help: ArgumentHelp("Only jobs claimed before then.", valueName: "time"), transform: TimeArgument.past)
    var until: Timestamp?

    @Option(help: "Only jobs that failed with this code, such as archive.damaged.")
    var code: String?

    private static let words = JobQuery.words

    /// Whether none was given.
    var isEmpty: Bool { query == JobQuery() }

    var query: JobQuery {
        var query = JobQuery()
        // Each was looked at when it was read.
        _ = query.choose(states.flatMap { $0 })
        query.pipeline = pipeline
        query.producer = producer
        query.pattern = pattern
        query.since = since
        query.until = until
        query.code = code
        return query
    }

    /// What is wrong with the name of the pipeline; nil where there is one of that name, or none was given.
    func strange(in journal: any JournalReading) throws(JournalError) -> String? {
        try Self.strange(pipeline, in: journal)
    }

    static func strange(_ pipeline: String?, in journal: any JournalReading) throws(JournalError) -> String? {
        let known = try journal.pipelines().map(\.name)
        guard let pipeline, !known.contains(pipeline) else { return nil }
        return "there is no pipeline '\(EscapedText.of(pipeline))'\(Suggestion.hint(for: pipeline, orListing: known))"
    }

    @Sendable private static func pattern(_ text: String) throws -> Glob {
        guard let glob = Glob(text) else {
            throw ValidationError("'\(text)' is not a pattern of names; write one such as '*.pdf' or '{a,b}-*'")
        }
        return glob
    }

    @Sendable private static func states(_ text: String) throws -> [String] {
        try text.split(separator: ",", omittingEmptySubsequences: false).map { word in
            if words.contains(String(word)) { return String(word) }
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
