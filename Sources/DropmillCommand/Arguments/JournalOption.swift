import ArgumentParser
import Journal
import PipelineConfig
import PostgresJournal

/// `--journal PLACE` of every verb that works with a journal that nodes share.
struct JournalOption: ParsableArguments {
    @Option(
        name: .customLong("journal"),
        help: ArgumentHelp(
            """
            The database of PostgreSQL with the journal that several hosts share: a URL, 'host=… dbname=…' or \
            'service=…'. (default: $DROPMILL_JOURNAL, else the journal in the state folder)
            """,
            valueName: "place"))
    var given: String?

    /// What libpq takes for its place; nil: the journal is in the state folder.
    var place: String? { given ?? Self.configured }

    /// The same, for a verb that is for shared journals alone.
    func needed() throws(ValidationError) -> String {
        guard let place else {
            throw ValidationError("name the journal that the nodes share: --journal PLACE, or DROPMILL_JOURNAL")
        }
        return place
    }

    /// What the environment says, which only who runs this can read.
    static var configured: String? { Environment.variables["DROPMILL_JOURNAL"].flatMap { $0.isEmpty ? nil : $0 } }

    /// Everybody can read a command line.
    func validate() throws {
        guard let given else { return }
        let place: PostgresPlace
        do throws(JournalError) {
            place = try PostgresPlace.of(given)
        } catch {
            throw error.printed
        }
        guard place.hasSecret else { return }
        StandardError.print(
            "error: --journal has a password in it, which every user of this machine can read in the list of "
                + "processes; put it into ~/.pgpass or into a service file (service=NAME), and change it")
        throw ExitStatus.configuration
    }
}
