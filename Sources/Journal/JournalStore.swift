package import Files
package import SystemPackage

/// Where a journal is, and what is done to it as a whole. What knows this knows no database.
package protocol JournalStore: Sendable {
    /// Opens the journal for writing, and makes it where there is none.
    ///
    /// `durable: false` leaves it to the kernel when commits reach the disk: after a power cut the latest may be
    /// missing. `checking` looks for damage; a program that only adds a line beside a running daemon need not.
    func open(durable: Bool, checking: Bool) throws(JournalError) -> any EngineJournal

    /// Opens the journal for reading, whether a daemon writes to it meanwhile or not.
    func openForReading() throws(JournalError) -> any Journal

    /// Puts a damaged journal out of the way, so that the next opening makes a new one. Returns where it is. The
    /// journal must not be open.
    func setAside(at time: Timestamp) throws(JournalError) -> FilePath

    /// Notes for the next opening that the journal is damaged.
    func markDamaged() throws(IOError)

    /// How many bytes it takes on this machine; nil where there is none.
    var bytes: Int64? { get }
}

extension JournalStore {
    /// Opens a journal that is there already, to change something where no daemon does.
    package func openExisting() throws(JournalError) -> any Journal {
        try openForReading().close()
        return try open(durable: true, checking: false)
    }
}
