import Files

/// dropmill(1): every verb with its options.
struct CommandManual {
    private let tree: HelpTree.Command
    private var page: ManualPage

    /// `help`: what `_dumpHelp` of the program returns. Nil where the argument parser does not tell what its verbs are.
    init?(_ help: String, date: String, version: String) {
        guard let tree = HelpTree(help)?.command else { return nil }
        self.tree = tree
        page = ManualPage(
            "dropmill", section: 1, "a hot-folder daemon", date: date, version: version)
    }

    /// The page.
    func made() -> ManualPage {
        var page = page
        page.heading("SYNOPSIS")
        page.raw("\(ManualPage.bold("dropmill")) \(ManualPage.italic("verb")) [\(ManualPage.italic("options"))]")
        page.heading("DESCRIPTION")
        page.prose(
            """
            People and programs drop files into an inbox. Dropmill waits until each is fully written, claims it, takes \
            it through the stages that a pipeline file names, and leaves it in `processed` or, with the reason beside \
            it, in `failed`. `dropmill-pipeline`(5) is about these files, `dropmill-stages`(7) about the stages.
            """, isFirst: true)
        page.prose(tree.discussion ?? "")
        page.heading("VERBS")
        let verbs = (tree.subcommands ?? []).filter { $0.shouldDisplay != false && $0.commandName != "help" }
        for verb in verbs { Self.add(verb, to: &page) }
        page.heading("EXIT STATUS")
        for (status, meaning) in ExitStatus.meanings { page.item(ManualPage.bold("\(status)"), meaning) }
        page.heading("FILES")
        for (path, meaning) in Self.files { page.item(ManualPage.italic(path), meaning) }
        page.heading("ENVIRONMENT")
        for (name, meaning) in Self.variables { page.item(ManualPage.bold(name), meaning) }
        Manual.addReferences(to: &page)
        return page
    }

    private static let files = [
        ("pipelines", "The pipeline files, where this folder is there and no others are named."),
        ("/etc/dropmill/pipelines", "Those of the installed service."),
        ("/etc/dropmill/dropmill.yaml", "The settings of the daemon itself: `dropmill.yaml`(5)."),
        (
            ".dropmill-state, /var/lib/dropmill",
            "The state folder, of a folder of pipelines and of the installed service."
        ),
    ]

    private static let variables = [
        ("DROPMILL_STATE", "The state folder, unless `--state-dir` names it."),
        ("NO_COLOR", "Log lines on a terminal are not coloured where it is set and not empty."),
        ("NOTIFY_SOCKET, WATCHDOG_USEC", "Of the service manager: see `sd_notify`(3)."),
    ]

    private static func add(_ verb: HelpTree.Command, to page: inout ManualPage) {
        let arguments = (verb.arguments ?? []).filter { argument in
            argument.shouldDisplay && !(argument.names ?? []).contains { ["help", "version"].contains($0.name) }
        }
        page.subheading(
            "dropmill \(verb.commandName)" + arguments.filter { $0.kind == "positional" }.map(usage).joined())
        page.prose(verb.abstract ?? "", isFirst: true)
        for argument in arguments { page.item(term(argument), meaning(of: argument)) }
        if let discussion = verb.discussion { page.prose(discussion) }
    }

    /// ` [JOB ...]`
    private static func usage(_ argument: HelpTree.Argument) -> String {
        let name = (argument.valueName ?? "").uppercased() + (argument.isRepeating ? " ..." : "")
        return argument.isOptional ? " [\(name)]" : " \(name)"
    }

    private static func term(_ argument: HelpTree.Argument) -> String {
        guard argument.kind != "positional" else { return ManualPage.italic((argument.valueName ?? "").uppercased()) }
        let names = (argument.names ?? []).map { ManualPage.bold($0.text) }.joined(separator: ", ")
        guard argument.kind == "option" else { return names }
        return "\(names) \(ManualPage.italic(argument.valueName ?? ""))"
    }

    private static func meaning(of argument: HelpTree.Argument) -> String {
        var words = [argument.abstract, argument.discussion].compactMap(\.self)
        if let values = argument.allValues, !values.isEmpty {
            words.append("One of \(values.joined(separator: ", ")).")
        }
        if let value = argument.defaultValue, !value.isEmpty { words.append("Default: \(value).") }
        return words.joined(separator: "\n")
    }
}
