import ArgumentParser
import Files
import Journal
import PostgresJournal

extension JournalCommand {
    /// What makes tables, and who may use them.
    struct Preparation: ParsableArguments {
        @OptionGroup var journal: JournalOption

        @Option(
            name: .customLong("grant"),
            help: ArgumentHelp(
                "A role that nodes have, which is given what they need and no more; may be repeated.", valueName: "role"
            ))
        var roles: [String] = []

        func validate() throws { _ = try journal.needed() }

        /// `isThere`: whether there has to be a journal already.
        func carryOut(isThere: Bool) throws {
            let words = try journal.needed()
            do throws(JournalError) {
                let place = try PostgresPlace.of(words).text
                let store = PostgresStore(words) { @Sendable in Incarnation(of: "", version: BuildVersion.number) }
                let steps = try store.prepare(isThere: isThere, granting: roles)
                let done = isThere ? "was brought up to date" : "was made"
                print("the journal in '\(place)' " + (steps == 0 ? "is up to date" : done))
                for role in roles { print("nodes may use it as '\(EscapedText.of(role))'") }
            } catch {
                throw error.printed
            }
        }
    }

    /// `dropmill journal init`: makes one that nodes share.
    struct Init: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "init",
            abstract: "Make the tables of a journal that nodes share, in a database of PostgreSQL.",
            discussion: """
                With the role that the place names, which may make tables in the first schema of its 'search_path' and \
                owns them from then on. Without this the first node makes them, with its own role. Does nothing where \
                they are there.

                Example: as the owner of the database, for nodes that have the role 'dropmill':

                  dropmill journal init --journal 'dbname=dropmill user=postgres' --grant dropmill
                """)

        @OptionGroup var preparation: Preparation

        func run() throws { try preparation.carryOut(isThere: false) }
    }

    /// `dropmill journal upgrade`: makes what a newer Dropmill adds.
    struct Upgrade: ParsableCommand {
        static let configuration = CommandConfiguration(
            commandName: "upgrade",
            abstract: "Add to a journal that nodes share what this version needs, while they run.",
            discussion: """
                With the role that has made it; nodes of the version before go on. Exits with status 1 if there is \
                none.

                Example:

                  dropmill journal upgrade --journal 'dbname=dropmill user=postgres' --grant dropmill
                """)

        @OptionGroup var preparation: Preparation

        func run() throws { try preparation.carryOut(isThere: true) }
    }
}
