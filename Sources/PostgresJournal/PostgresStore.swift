package import Files
package import Journal
package import SystemPackage

/// The journal that nodes share, for one of them.
package struct PostgresStore: JournalStore {
    private let words: String
    private let incarnation: @Sendable () -> Incarnation

    /// `words`: what libpq takes for a place. `incarnation`: of each opening for writing another one.
    package init(_ words: String, as incarnation: @escaping @Sendable () -> Incarnation) {
        (self.words, self.incarnation) = (words, incarnation)
    }

    package func open(durable: Bool, checking: Bool) throws(JournalError) -> any EngineJournal {
        let journal = try PostgresJournal.open(words, as: incarnation())
        do throws(JournalError) {
            try journal.refuseTwin()
            return journal
        } catch {
            // Else its name would be taken for as long as its lease holds.
            do throws(JournalError) { try journal.leave() } catch {}
            journal.close()
            throw error
        }
    }

    /// Makes what is missing of the tables, with the rights of this role, and gives others what a node needs. Returns
    /// how many steps of the schema that took. `isThere`: whether there has to be a journal already.
    package func prepare(isThere: Bool, granting roles: [String]) throws(JournalError) -> Int {
        try PostgresJournal.prepare(words, isThere: isThere, granting: roles)
    }

    package func openForReading() throws(JournalError) -> any Journal { try PostgresJournal.open(reading: words) }

    /// The server knows how to mend what is its own.
    package func setAside(at time: Timestamp) throws(JournalError) -> FilePath {
        throw JournalError(
            .environment, "A journal in a database is not set aside. Restore the database from its backup.")
    }

    package func markDamaged() {}

    package var bytes: Int64? { nil }
}
