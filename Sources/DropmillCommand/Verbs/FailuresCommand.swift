import ArgumentParser
import Control
import Files
import Journal
import PipelineKit

/// `dropmill failures`: what failed and is nobody's yet, in groups.
struct FailuresCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "failures",
        abstract: "List what failed and was neither sent in again nor dismissed, in groups of the same code.",
        discussion: """
            The largest group first, with the sentence that most of its newest jobs have. Exits with status 1 if there \
            is none.

            Example: what failed within the last day, then one group once its cause is fixed:

              dropmill failures --since 24h
              dropmill retry --code archive.damaged --pipeline scans
            """)

    @Option(help: "Only jobs of this pipeline.", completion: Completion.pipelines)
    var pipeline: String?

    @Option(
        help: ArgumentHelp("Only jobs that failed since the hour of: 24h ago, or a date.", valueName: "time"),
        transform: TimeArgument.past)
    var since: Timestamp?

    @Flag(help: "Print one JSON object: 'total' and 'groups'.")
    var json = false

    @OptionGroup var folder: StateFolderOption
    @OptionGroup var journal: JournalOption

    func run() throws {
        let (found, strange) = try folder.folder.with(journal).read { journal throws(JournalError) in
            (
                try journal.failureGroups(of: pipeline, since: since, at: .now()),
                try JobFilters.strange(pipeline, in: journal)
            )
        }
        if json {
            var text = JSONText()
            text.object { found.write(&$0) }
            print(text.string)
        } else {
            for line in Self.lines(found) { print(line) }
        }
        guard found.total == 0 else { return }
        if !json { StandardError.print(strange ?? "nothing has failed that is not dealt with yet") }
        throw ExitStatus.failure
    }

    static func lines(_ found: FailureGroups) -> [String] {
        guard !found.groups.isEmpty else { return [] }
        var table = TextTable([
            ("JOBS", .right), ("PIPELINE", .left), ("CODE", .left), ("SIZE", .right), ("LAST", .left), ("WHY", .left),
        ])
        for group in found.groups {
            table.add([
                "\(group.jobs)", group.pipeline, group.code, ByteSize(bytes: group.bytes).description,
                group.last.localText, EscapedText.printable(group.sentence.summary),
            ])
        }
        return table.lines
    }
}
