import Files
package import Journal

extension PostgresJournal {
    /// Opens the journal for a node, with all tables, and registers that.
    package static func open(
        _ words: String, as incarnation: Incarnation
    ) throws(JournalError) -> PostgresJournal {
        let journal = PostgresJournal(try place(words), as: incarnation)
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
        reading words: String, on host: String? = nil
    ) throws(JournalError) -> PostgresJournal {
        let journal = PostgresJournal(try place(words), as: nil, on: host)
        do throws(JournalError) {
            let applied: Set<String>
            do throws(PostgresError) {
                applied = try journal.applied { query throws(PostgresError) in try journal.readings.query(query) }
            } catch {
                throw JournalError(error, "open", journal.place)
            }
            try journal.refuseNewer(applied)
            guard Schema.isComplete(applied) else {
                throw JournalError(
                    .missing,
                    "There is no journal in '\(journal.place.text)', or one of an older Dropmill; 'dropmill run' makes "
                        + "it, and 'search_path' says in which schema it is.")
            }
            return journal
        } catch {
            journal.close()
            throw error
        }
    }

    static func place(_ words: String) throws(JournalError) -> PostgresPlace {
        do throws(PostgresError) {
            return try PostgresPlace(words)
        } catch {
            let text =
                switch error {
                case .library(let text), .unfit(let text), .lost(let text), .refused(_, let text): text
                }
            throw JournalError(.newer, "The journal's place makes no sense: \(text).", remedy: "")
        }
    }
}
