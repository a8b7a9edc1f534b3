import ArgumentParser
import PipelineKit

/// What `pause` and `drain` are told.
struct HoldArguments: ParsableArguments {
    @Argument(help: "Pipelines' names. Without any: all.", completion: Completion.pipelines)
    var pipelines: [String] = []

    @Option(
        help: "Why, for those who see that nothing goes on.",
        transform: { String(decoding: RawArguments.bytes(of: $0), as: UTF8.self) })
    var reason = ""

    @Option(
        name: .customLong("for"), parsing: .unconditional,
        help: ArgumentHelp("When it ends by itself, such as 2h.", valueName: "duration"),
        transform: TimeArgument.ahead)
    var time: Duration?
}
