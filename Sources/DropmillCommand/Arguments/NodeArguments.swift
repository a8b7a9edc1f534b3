import ArgumentParser
import Files
import Journal
import PipelineConfig
import PostgresJournal

/// How a daemon takes part in a journal that nodes share.
struct NodeArguments: ParsableArguments {
    @OptionGroup var journal: JournalOption

    @Option(
        name: .customLong("node"),
        help: ArgumentHelp(
            """
            What this node is called among those that share the journal. (default: $DROPMILL_NODE, else the host's name)
            """,
            valueName: "name"))
    var given: String?

    @Option(
        help: ArgumentHelp(
            "How long a node may be silent before others take over what it has, such as 10s. (default: 30s)",
            valueName: "duration"),
        transform: TimeArgument.duration)
    var lease: Duration?

    var name: String {
        let configured = Environment.variables["DROPMILL_NODE"] ?? ""
        return given ?? (configured.isEmpty ? Incarnation.hostName : configured)
    }

    func validate() throws {
        guard journal.place != nil else {
            guard given == nil, lease == nil else {
                let option = given == nil ? "--lease" : "--node"
                throw ValidationError("\(option) is for a journal that nodes share; name that with --journal")
            }
            return
        }
        try NodeOption.check(name)
        if name == NodeOption.all {
            throw ValidationError("a node may not be called '\(NodeOption.all)', which means each; give another --node")
        }
        if let lease, lease < .seconds(2) || lease > .seconds(3600) {
            throw ValidationError("a lease has 2 seconds to 1 hour")
        }
    }

    /// That the journal's server may be heard on its way, and that another journal is left.
    func warnings(in folder: StateFolder) -> [String] {
        guard let place = journal.place else { return [] }
        // What is wrong with it is said when it is opened.
        let route = try? PostgresPlace.of(place).warning
        let left = folder.sharing(nil).store().bytes.map { _ in
            "the journal in '\(folder.path.text)' is used no more, and the shared one does not know what is in it; "
                + "move it away, or verbs without --journal look into it"
        }
        return [route, left].compactMap(\.self)
    }

    /// The journal of the daemon with that state folder.
    func store(in folder: StateFolder) -> any JournalStore { folder.with(journal).store(of: name, lease: lease) }
}
