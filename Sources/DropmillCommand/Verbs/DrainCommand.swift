import ArgumentParser

/// `dropmill drain`: what is claimed goes to its end, and no more.
struct DrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Drain pipelines: what is claimed goes to its end, and nothing more is claimed.",
        discussion: """
            It lasts until 'dropmill resume', over restarts and reloads. Where no daemon runs the next start \
            obeys it from its first moment. Exits with status 1 if it could not be done.

            Example: before the server is replaced:

              dropmill drain scans --reason "RIP is down" --for 2h
            """)

    @Argument(help: "Pipelines' names. Without any: all.")
    var pipelines: [String] = []

    @Option(help: "Why, for those who see that nothing goes on.")
    var reason = ""

    @Option(
        name: .customLong("for"), help: ArgumentHelp("When it ends by itself, such as 2h.", valueName: "duration"),
        transform: TimeArgument.duration)
    var time: Duration?

    @OptionGroup var state: StateArguments

    func run() throws {
        try Holding.carryOut(.drain, pipelines, reason: reason, for: time, in: state.folder)
    }
}
