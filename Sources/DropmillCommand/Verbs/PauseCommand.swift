import ArgumentParser

/// `dropmill pause`: nothing begins until it is lifted.
struct PauseCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "pause",
        abstract: "Pause pipelines: nothing is claimed and no stage begins.",
        discussion: """
            It lasts until 'dropmill resume', over restarts and reloads. Where no daemon runs the next start \
            obeys it from its first moment. Where nodes share a journal all of them do, within seconds, or the one \
            that --node names, also those that start later. Exits with status 1 if it could not be done.

            Example: two hours for the printer:

              dropmill pause scans --reason "RIP is down" --for 2h
            """)

    @OptionGroup var hold: HoldArguments
    @OptionGroup var state: StateArguments
    @OptionGroup var node: NodeOption

    func run() throws {
        try Holding.carryOut(
            .pause, hold.pipelines, reason: hold.reason, for: hold.time, on: node.name,
            in: state.folder.with(node.journal))
    }
}
