import ArgumentParser
import Journal

/// `--node NAME` of the verbs that act on nodes that share a journal.
struct NodeOption: ParsableArguments {
    /// Stands for each of them.
    static let all = "all"

    @OptionGroup var journal: JournalOption

    @Option(
        name: .customLong("node"),
        help: ArgumentHelp(
            "One of the nodes that share the journal, as 'dropmill nodes' lists them, or 'all'.", valueName: "name"))
    var given: String?

    /// Nil: all of them.
    var name: String? { given == Self.all ? nil : given }

    func validate() throws {
        guard given == nil || journal.place != nil else {
            throw ValidationError("--node is for a journal that nodes share; name that with --journal")
        }
    }
}
