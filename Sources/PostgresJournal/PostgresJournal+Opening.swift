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
            let applied = try journal.applied { query throws(PostgresError) in try journal.readings.query(query) }
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

    private static func place(_ words: String) throws(JournalError) -> PostgresPlace {
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

    /// The names of the steps that the database has gone through.
    private func applied(
        _ ask: (PostgresQuery) throws(PostgresError) -> [PostgresRow]
    ) throws(JournalError) -> Set<String> {
        do throws(PostgresError) {
            let there = try ask(PostgresQuery("SELECT FROM pg_class WHERE oid = to_regclass('migrations')"))
            guard !there.isEmpty else { return [] }
            return Set(
                try ask(PostgresQuery("SELECT name FROM migrations")).compactMap { found in
                    var row = found
                    return row.optionalText()
                })
        } catch {
            throw JournalError(error, "open", place)
        }
    }

    private func refuseNewer(_ applied: Set<String>) throws(JournalError) {
        let unknown = Schema.unknown(among: applied).sorted()
        guard let first = unknown.first else { return }
        throw JournalError(
            .newer,
            "The journal '\(place.text)' has the schema of a newer Dropmill: '\(first)', and this one knows it up to "
                + "'\(Schema.last)'. Run on this node the version that the others run.", remedy: "")
    }

    /// Goes the steps that are missing, all or none, while others wait.
    func migrate() throws(JournalError) {
        let known = try applied { query throws(PostgresError) in try commits.query(query) }
        try refuseNewer(known)
        if Schema.isComplete(known) { return }
        try change { ask in
            _ = try ask(
                PostgresQuery("SELECT pg_advisory_xact_lock($1, $2)", Schema.lock, Schema.Turn.migrating.rawValue))
            let applied = try applied(ask)
            try refuseNewer(applied)
            if applied.isEmpty { _ = try ask(PostgresQuery("CREATE TABLE migrations (name text PRIMARY KEY)")) }
            for step in Schema.steps where !applied.contains(step.name) {
                for command in step.commands { _ = try ask(PostgresQuery(command)) }
                _ = try ask(PostgresQuery("INSERT INTO migrations VALUES ($1)", step.name))
            }
        }
    }
}
