/// What only a running daemon can do.
enum DaemonRequest {
    static func ask<Verb: ControlVerb>(
        _ verb: Verb.Type, _ arguments: Verb.Arguments, in folder: StateFolder
    ) throws(ControlClient.Problem) -> Verb.Answer {
        guard folder.isHeldIfKnown != false else {
            throw ControlClient.Problem(
                message: "no daemon runs with the state folder '\(folder.path.text)'; name another with --state-dir")
        }
        return try ControlClient.ask(verb, arguments, in: folder.path)
    }
}
