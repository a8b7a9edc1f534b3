import ArgumentParser
import Control
import Journal

/// `dropmill retry`: failed originals go back into their inboxes.
struct RetryCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "retry",
        abstract: "Send failed originals back into their inboxes, whether the daemon runs or not.",
        discussion: """
            Each becomes a new job that refers to the failed one. Exits with status 1 if one could not be sent back or \
            none was found.

            Example: everything that failed in the pipeline 'scans', once the cause is fixed:

              dropmill retry --failed --pipeline scans
            """)

    @OptionGroup var selection: JobSelection

    @Flag(help: "Every failed job whose original is still in place.")
    var failed = false

    @OptionGroup var folder: StateFolderOption
    @OptionGroup var journal: JournalOption

    @Flag(help: "Print one JSON object: 'sent' and 'problems'.")
    var json = false

    func validate() throws {
        if selection.isEmpty, !failed { throw ValidationError("name jobs, choose some, or give --failed") }
        if !selection.jobs.isEmpty, failed {
            throw ValidationError("jobs and --failed exclude each other; choose one")
        }
        if selection.query(among: [.failed]) == nil { throw ValidationError("only failed jobs can be retried") }
    }

    func run() throws {
        // What was cancelled is only meant where that is asked for.
        let states = selection.filters.states.isEmpty ? ["failed"] : selection.query(among: [.failed])?.words ?? []
        try SendingIn<RetryVerb>(kind: .retry, selection: selection, folder: folder.folder.with(journal), json: json)
            .carryOut(nothing: selection.noneInPlace(states.joined(separator: " or ")))
    }
}
