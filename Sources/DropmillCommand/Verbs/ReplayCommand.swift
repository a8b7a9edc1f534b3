import ArgumentParser
import Control
import Journal

/// `dropmill replay`: processed drops once more.
struct ReplayCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "replay",
        abstract: "Process drops again: copies of their originals go into the inboxes, whether the daemon runs or not.",
        discussion: """
            The originals stay in 'processed'. One that is gone, is a folder, or is not what it was any more, is \
            refused. Each copy becomes a new job that refers to the first one. Filters leave out what was replayed \
            already, and replays; jobs that are named are replayed once more. Exits with status 1 if one could not be \
            sent in or none was found.

            Example: what came through a wrong template yesterday, first to see, then to do, ten within a second:

              dropmill replay --pipeline scans --since 24h --dry-run
              dropmill replay --pipeline scans --since 24h --rate 10/s
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup var folder: StateFolderOption
    @OptionGroup var journal: JournalOption

    @Flag(help: "Print one JSON object: 'sent' and 'problems'.")
    var json = false

    func validate() throws {
        if selection.isEmpty { throw ValidationError("name jobs, or choose some, such as by --pipeline") }
        if selection.query(among: [.processed]) == nil {
            throw ValidationError("only processed jobs can be replayed; 'dropmill retry' is for failed ones")
        }
    }

    func run() throws {
        try SendingIn<ReplayVerb>(kind: .replay, selection: selection, folder: folder.folder.with(journal), json: json)
            .carryOut(nothing: selection.noneInPlace("processed"))
    }
}
