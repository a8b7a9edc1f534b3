/// A journal as an engine has it open: with what people are told and what they change, and with what keeps it usable
/// for as long as the engine runs.
package protocol EngineJournal: Journal, Outbox, AuditTrail {
    /// From now on commits are on the disk when they return: the next one takes along what was written before.
    func makeDurable() throws(JournalError)

    /// Looks whether others find this journal, with this run as the last that began, and mends that where they do not.
    /// Returns what was done; nil where nothing had to be.
    func mend(_ run: RunRecord) throws(JournalError) -> JournalMending?

    /// Frees what is kept for speed alone.
    func releaseMemory()
}
