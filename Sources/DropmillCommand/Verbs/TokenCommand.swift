import ArgumentParser
import Dashboard
import Files
import PipelineKit

/// `dropmill token`: keys to the page.
struct TokenCommand: ParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "token",
        abstract: "Give out tokens for the page and its API, list and revoke them.",
        subcommands: [Add.self, List.self, Revoke.self])

    static func orExit<Result>(_ body: () throws(TokenError) -> Result) throws(ExitCode) -> Result {
        do throws(TokenError) {
            return try body()
        } catch {
            StandardError.print("error: \(error)")
            throw ExitStatus.configuration
        }
    }

    struct Add: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Make a token and print it, this once.",
            discussion: """
                Only its digest is kept. Its name stands in the list of changes beside what was done with it.

                Example: the front desk may look, and drop into two pipelines for a year:

                  dropmill token add front-desk --role drop --pipeline covers --pipeline press --expires 365d
                """)

        @Argument(help: "What it is called.") var name: String
        @Option(help: "What it may do: look, drop (and look), operate (everything).") var role: Role = .look
        @Option(
            name: .customLong("pipeline"),
            help: ArgumentHelp("With the role drop: only into this one; may be repeated.", valueName: "name"))
        var pipelines: [String] = []
        @Option(
            help: ArgumentHelp("For how long it is good.", valueName: "time"), transform: TimeArgument.ahead)
        var expires: Duration?
        @OptionGroup var place: TokenFolderOption

        func validate() throws {
            guard pipelines.isEmpty || role == .drop else {
                throw ValidationError("--pipeline goes with --role drop: the others are for all pipelines")
            }
        }

        func run() throws {
            let now = Timestamp.now()
            let end = expires.map { Timestamp(nanoseconds: now.nanoseconds.addingSaturated($0.nanoseconds)) }
            let secret = try TokenCommand.orExit { () throws(TokenError) in
                let (token, secret) = try Token.make(
                    name, role, pipelines: pipelines.isEmpty ? nil : pipelines, expires: end, at: now)
                try TokenFile(in: place.folder).change { tokens throws(TokenError) in
                    guard !tokens.contains(where: { $0.name == name }) else {
                        throw TokenError(taken: name)
                    }
                    tokens.append(token)
                }
                return secret
            }
            print(secret)
        }
    }

    struct List: ParsableCommand {
        static let configuration = CommandConfiguration(abstract: "List the tokens that were given out.")

        @OptionGroup var place: TokenFolderOption
        @Flag(help: "Print a JSON array.") var json = false

        func run() throws {
            let tokens = try TokenCommand.orExit { () throws(TokenError) in try TokenFile(in: place.folder).read() }
            if json {
                var text = JSONText()
                text.array { text in for token in tokens { text.object { token.write(&$0) } } }
                return print(text.string)
            }
            if tokens.isEmpty {
                let isThere = TokenFile(in: place.folder).hasFolder
                let fact = isThere ? "" : ", which is not there; --token-dir names another"
                return StandardError.print("no token was given out in '\(place.folder.text)'\(fact)")
            }
            var table = TextTable(["NAME", "ROLE", "PIPELINES", "MADE", "EXPIRES"].map { ($0, .left) })
            for token in tokens {
                table.add([
                    token.name, token.role.rawValue, token.pipelines?.joined(separator: ", ") ?? "all",
                    Timestamp(nanoseconds: token.created).formatted("%Y-%m-%d"),
                    token.expires.map { Timestamp(nanoseconds: $0).formatted("%Y-%m-%d") } ?? "never",
                ])
            }
            for line in table.lines { print(line) }
        }
    }

    struct Revoke: ParsableCommand {
        static let configuration = CommandConfiguration(
            abstract: "Revoke a token: it and its sessions are good for nothing from then on.")

        @Argument(help: "What it is called.") var name: String
        @OptionGroup var place: TokenFolderOption

        func run() throws {
            try TokenCommand.orExit { () throws(TokenError) in
                try TokenFile(in: place.folder).change { tokens throws(TokenError) in
                    let count = tokens.count
                    tokens.removeAll { $0.name == name }
                    guard tokens.count < count else { throw TokenError(unknown: name) }
                }
            }
            print("\(EscapedText.of(name)): revoked")
        }
    }
}
