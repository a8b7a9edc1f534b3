/// Keeps what people changed, apart from what happened to jobs. Calls block and may be made from any thread.
package protocol AuditTrail: Sendable {
    /// Puts a change on record that is about to be made. Returns the number that it is known by.
    func beginAudit(_ entry: AuditEntry) throws(JournalError) -> Int64

    /// Adds its result.
    func endAudit(_ number: Int64, result: String) throws(JournalError)
}
