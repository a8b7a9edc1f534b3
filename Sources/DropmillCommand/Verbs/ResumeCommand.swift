import ArgumentParser

/// `dropmill resume`: lifts `pause` and `drain`.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let pipelines go on that were paused or drained.",
        discussion: """
            Trouble with the surroundings pauses a pipeline, too; that ends by itself. Exits with status 1 if it could \
            not be done.

            Example: all of them:

              dropmill resume
            """)

    @Argument(help: "Pipelines' names. Without any: all.", completion: Completion.pipelines)
    var pipelines: [String] = []

    @OptionGroup var state: StateArguments

    func run() throws { try Holding.carryOut(nil, pipelines, in: state.folder) }
}
