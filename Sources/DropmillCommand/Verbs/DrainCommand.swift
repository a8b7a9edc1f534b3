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

    @OptionGroup var hold: HoldArguments
    @OptionGroup var state: StateArguments

    func run() throws {
        try Holding.carryOut(.drain, hold.pipelines, reason: hold.reason, for: hold.time, in: state.folder)
    }
}
