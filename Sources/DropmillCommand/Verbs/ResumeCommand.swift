import ArgumentParser

/// `dropmill resume`: lifts `pause` and `drain`.
struct ResumeCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "resume",
        abstract: "Let pipelines go on that were paused or drained.",
        discussion: """
            Trouble with the surroundings pauses a pipeline, too; that ends by itself. Where nodes share a journal it \
            goes on on all of them, also on those that were held alone. Exits with status 1 if it could not be done.

            Example: all of them:

              dropmill resume
            """)

    @Argument(help: "Pipelines' names. Without any: all.", completion: Completion.pipelines)
    var pipelines: [String] = []

    @OptionGroup var state: StateArguments
    @OptionGroup var node: NodeOption

    func run() throws { try Holding.carryOut(nil, pipelines, on: node.name, in: state.folder.with(node.journal)) }
}
