import ArgumentParser
import Files
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
        if let given { try Self.check(given) }
    }

    /// Throws what cannot be a node's name.
    static func check(_ name: String) throws(ValidationError) {
        guard name.isEmpty || name.utf8.count > 64 || EscapedText.printable(name) != name else { return }
        throw ValidationError("a node's name must be printable, and have 1 to 64 bytes; give one with --node")
    }
}
