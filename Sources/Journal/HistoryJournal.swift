package import Files
package import PipelineKit

/// What takes from a journal the jobs that it keeps no longer. Calls block and may be made from any thread.
package protocol HistoryJournal: JournalReading {
    /// Whether this process takes jobs from it: of several that share it one does, and another once that one asks no
    /// more.
    func mayForget() -> Bool

    /// Jobs that are over and ended before the limits, in the order of their ends. `last`: those behind that one. nil:
    /// whenever they ended.
    func expired(
        _ limits: HistoryLimits?, after last: ExpiredJob?, limit: Int
    ) throws(JournalError) -> [ExpiredJob]

    /// Removes those of these jobs that are over, and notes what was archived of them, all or nothing. Returns how many
    /// there were.
    func remove(_ jobs: [JobID], noting archived: ArchiveNote?) throws(JournalError) -> Int

    /// Removes content that came before that time, and files sent in and changes from before the other: of each table
    /// at most so many. Returns how many there were; 0: no more are left.
    func removeNotes(content: Timestamp, others: Timestamp, limit: Int) throws(JournalError) -> Int

    /// The archive that was written last, as far as it was.
    func archived() throws(JournalError) -> ArchiveNote?

    /// Notes an archive that is about to be written.
    func note(archived: ArchiveNote) throws(JournalError)

    /// How many jobs that are over it holds. Counts them.
    func finishedCount() throws(JournalError) -> Int

    /// What its file takes.
    func room() throws(JournalError) -> JournalRoom

    /// Gives a little of the room that nothing takes any more back to the file system; false: it has none, but for what
    /// comes next.
    func giveBack() throws(JournalError) -> Bool
}

extension HistoryJournal {
    /// Always, where one daemon has it to itself.
    package func mayForget() -> Bool { true }
}
