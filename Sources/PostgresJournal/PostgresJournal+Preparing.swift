import Journal

/// What is done to a journal by a role that may more than a node's.
extension PostgresJournal {
    static func prepare(
        _ words: String, isThere: Bool, granting roles: [String]
    ) throws(JournalError) -> Int {
        let journal = PostgresJournal(try PostgresPlace.of(words), as: nil)
        defer { journal.close() }
        let before = try journal.applied()
        guard !isThere || !before.isEmpty else {
            throw JournalError(
                .missing,
                "There is no journal in '\(journal.place.text)' that could be upgraded. 'dropmill journal init' makes "
                    + "it; 'search_path' says in which schema it is.")
        }
        try journal.migrate()
        try Partitions.make(journal, at: .now())
        for role in roles { try journal.grant(to: role) }
        return Schema.steps.count - before.count
    }
}
