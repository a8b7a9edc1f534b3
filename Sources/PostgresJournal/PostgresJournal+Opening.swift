package import Files
package import Journal

extension PostgresJournal {
    /// Opens the journal for a node, with all tables, and registers that.
    package static func open(
        _ words: String, as incarnation: Incarnation
    ) throws(JournalError) -> PostgresJournal {
        let journal = PostgresJournal(try PostgresPlace.of(words), as: incarnation)
        do throws(JournalError) {
            try journal.migrate()
            try Partitions.make(journal, at: .now())
            try journal.register(incarnation)
            return journal
        } catch {
            journal.close()
            throw error
        }
    }

    /// Opens a journal that is there for reading.
    package static func open(
        reading words: String, on host: String? = nil,
        now: @escaping @Sendable () -> Timestamp = { @Sendable in .now() }
    ) throws(JournalError) -> PostgresJournal {
        let journal = PostgresJournal(try PostgresPlace.of(words), as: nil, on: host, now: now)
        do throws(JournalError) {
            let applied = try journal.applied(on: journal.readings)
            try journal.refuseNewer(applied)
            guard !applied.isEmpty else {
                throw JournalError(
                    .missing,
                    "There is no journal in '\(journal.place.text)', or none that this role may see. 'dropmill run' "
                        + "and 'dropmill journal init' make it; 'options=-csearch_path=NAME' names another schema.")
            }
            guard Schema.isComplete(applied) else {
                throw JournalError(
                    .newer,
                    "The journal '\(journal.place.text)' has the schema of an older Dropmill. Run 'dropmill journal "
                        + "upgrade' with the role that owns it.")
            }
            return journal
        } catch {
            journal.close()
            throw error
        }
    }
}
