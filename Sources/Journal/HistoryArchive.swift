package import SystemPackage

/// Where jobs go that the journal keeps no longer.
package protocol HistoryArchive: Sendable {
    /// What would keep jobs from being archived there: a sentence with its remedy. Nil where nothing is known to. To be
    /// asked before anything is appended.
    func problem(with folder: FilePath) -> String?

    /// Adds jobs behind what was noted last, and returns what is to be noted with their removal; it is on the disk
    /// then. `begin` notes before anything is written where that will be.
    func append(
        _ jobs: [JobRecord], to folder: FilePath, behind noted: ArchiveNote?,
        begin: (ArchiveNote) throws(JournalError) -> Void
    ) throws(ArchiveProblem) -> ArchiveNote
}
