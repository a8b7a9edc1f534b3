import ArgumentParser

/// `dropmill drain`: what is claimed goes to its end, and no more.
struct DrainCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "drain",
        abstract: "Drain pipelines: what is claimed goes to its end, and nothing more is claimed.",
        discussion: """
            It lasts until 'dropmill resume', over restarts and reloads. Where no daemon runs the next start \
            obeys it from its first moment. Where nodes share a journal all of them do, within seconds, or the one \
            that --node names, also those that start later. Exits with status 1 if it could not be done.

            Example: before the server is replaced:

              dropmill drain scans --reason "RIP is down" --for 2h
            """)

    @OptionGroup var hold: HoldArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var node: NodeOption

    func run() throws {
        try Holding.carryOut(
            .drain, hold.pipelines, reason: hold.reason, for: hold.time, on: node.name,
            in: state.folder.with(node.journal))
    }
}
