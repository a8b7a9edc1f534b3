import FoundationEssentials

/// What the verbs and their options say of themselves, as the argument parser tells it.
struct HelpTree: Decodable {
    struct Command: Decodable {
        var commandName: String
        var abstract: String?
        var discussion: String?
        var shouldDisplay: Bool?
        var subcommands: [Command]?
        var arguments: [Argument]?
    }

    struct Argument: Decodable {
        struct Name: Decodable {
            var kind: String
            var name: String

            /// As it is typed.
            var text: String { (kind == "long" ? "--" : "-") + name }
        }

        /// `positional`, `option` or `flag`.
        var kind: String
        var shouldDisplay: Bool
        var isOptional: Bool
        var isRepeating: Bool
        var names: [Name]?
        var valueName: String?
        var defaultValue: String?
        var allValues: [String]?
        var abstract: String?
        var discussion: String?
    }

    var command: Command

    /// `help`: what `_dumpHelp` of a command returns. Nil where that has become another thing.
    init?(_ help: String) {
        do { self = try JSONDecoder().decode(HelpTree.self, from: Data(help.utf8)) } catch { return nil }
    }
}
