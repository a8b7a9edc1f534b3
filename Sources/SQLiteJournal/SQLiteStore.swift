package import Files
package import Journal
package import SystemPackage

/// The journal of one daemon: a database in its state folder.
package struct SQLiteStore: JournalStore {
    private let folder: FilePath

    package init(in folder: FilePath) { self.folder = folder }

    package func open(durable: Bool, checking: Bool) throws(JournalError) -> any EngineJournal {
        try SQLiteJournal.open(writing: folder, durable: durable, checking: checking)
    }

    package func openForReading() throws(JournalError) -> any Journal { try SQLiteJournal.open(reading: folder) }

    package func setAside(at time: Timestamp) throws(JournalError) -> FilePath {
        try SQLiteJournal.setAside(in: folder, at: time)
    }

    package func markDamaged() throws(IOError) { try SQLiteJournal.markDamaged(in: folder) }

    package var bytes: Int64? { SQLiteJournal.bytes(in: folder) }
}
