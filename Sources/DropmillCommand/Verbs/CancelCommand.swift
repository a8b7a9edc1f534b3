import ArgumentParser

/// `dropmill cancel`: jobs that nobody wants any more.
struct CancelCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "cancel",
        abstract: "Cancel jobs: they settle into 'failed'.",
        discussion: """
            A running stage is stopped first. What is being settled already goes on to its end. Where no daemon runs \
            it is put on record, and the next start that loads their pipelines settles them. Where nodes share a \
            journal the one that has a job does it, from any host. Exits with status 1 if a \
            job could not be cancelled, or none was found.

            Example: what of a wrong delivery is not through yet, first to see, then to do:

              dropmill cancel --pipeline scans --name 'batch-17*' --dry-run
              dropmill cancel --pipeline scans --name 'batch-17*'
            """)

    @OptionGroup var selection: JobSelection
    @OptionGroup var option: StateFolderOption
    @OptionGroup var node: NodeOption

    private var folder: StateFolder { option.folder.with(node.journal) }

    func validate() throws {
        if selection.isEmpty { throw ValidationError("name jobs, or choose some, such as by --pipeline") }
    }

    func run() throws {
        let jobs = UnfinishedJobs(
            selection: selection, folder: folder, node: node.name, kind: .cancel, most: 1000)
        try jobs.carryOut { ids throws(ExitCode) in
            let answer = try Cancelling.cancel(ids, in: folder)
            return (answer.results.map { ($0.job, $0.isCancelled, $0.text) }, answer.problem)
        }
    }
}
