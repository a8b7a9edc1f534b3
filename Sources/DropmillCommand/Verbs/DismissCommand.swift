import ArgumentParser
import Control
import Journal

/// `dropmill dismiss`: failures that nobody will retry.
struct DismissCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "dismiss",
        abstract: "Take failed jobs that nobody will retry out of the count of failures.",
        discussion: """
            They stay failed, and their originals stay where they are. 'retry' sends in what it is given by name, and \
            passes over it where it is given filters. Where no daemon runs this does it. Exits with status 1 if a job \
            could not be dismissed, or none was found.

            Example: what was infected and is dealt with, first to see, then to do:

              dropmill dismiss --code scan.infected --pipeline scans --dry-run
              dropmill dismiss --code scan.infected --pipeline scans
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup var folder: StateFolderOption
    @OptionGroup var journal: JournalOption

    func validate() throws {
        if selection.isEmpty { throw ValidationError("name jobs, or choose some, such as by --code") }
        if selection.filters.query.words.contains(where: { $0 != JobRecord.State.failed.rawValue }) {
            throw ValidationError("only failed jobs can be dismissed")
        }
    }

    func run() throws {
        try SendingIn<DismissVerb>(
            kind: .dismiss, selection: selection, folder: folder.folder.with(journal), done: "dismissed"
        )
        .carryOut(nothing: "no failed job matches that is not dealt with yet")
    }
}
