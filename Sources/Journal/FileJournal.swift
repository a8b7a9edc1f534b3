package import Files
package import SystemPackage

/// What a journal knows of the originals that jobs have left in folders, also of jobs that it keeps no longer. Calls
/// block and may be made from any thread.
package protocol FileJournal: Sendable {
    /// Says in which folders originals are to go some day. What a job left there is noted before it leaves the history.
    func keep(_ folders: Set<KeptFolder>)

    /// Whether this process removes what is to go from that folder: of several that share it one does, and another once
    /// that one asks no more.
    func mayRemove(from folder: KeptFolder) -> Bool

    /// Notes what jobs have left in those folders: so many that ended since then, behind `last`. Returns the last of
    /// them; nil: there are no more.
    func collect(since time: Timestamp, after last: ExpiredJob?, limit: Int) throws(JournalError) -> ExpiredJob?

    /// Notes that it is known what jobs that ended before then have left there.
    func note(collected time: Timestamp, in folder: KeptFolder) throws(JournalError)

    func standing(of folder: KeptFolder) throws(JournalError) -> KeptStanding

    /// Those that were left there and are not being removed, the oldest first, behind `last`.
    func files(in folder: KeptFolder, after last: ExpiredJob?, limit: Int) throws(JournalError) -> [KeptFile]

    /// Those whose removal has begun and is not on record.
    func leaving(_ folder: KeptFolder) throws(JournalError) -> [KeptFile]

    /// Notes that these are about to be removed, each by its rule.
    func begin(_ files: [KeptFile]) throws(JournalError)

    /// Notes what became of them, in their jobs' stories too.
    func end(_ ends: [KeptEnd], in folder: KeptFolder, at time: Timestamp) throws(JournalError)

    /// Folders that were made there, from the last path backwards, so that each comes before the one that it is in.
    func madeFolders(in folder: KeptFolder, before last: FilePath?, limit: Int) throws(JournalError) -> [MadeFolder]

    /// These are not there any more, or not as they were made.
    func forget(_ made: [MadeFolder], in folder: KeptFolder) throws(JournalError)

    /// By which hidden folder that one is known from now on.
    func mark(_ folder: KeptFolder, as name: String) throws(JournalError)
}

extension FileJournal {
    /// Always, where one daemon has it to itself.
    package func mayRemove(from folder: KeptFolder) -> Bool { true }
}
