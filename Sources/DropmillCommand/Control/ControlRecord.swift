import Journal

/// Puts changes on record in the journal. Where that fails they are made all the same: what is asked for in trouble is
/// to be had in trouble.
struct ControlRecord: Sendable {
    /// Nil where it is closed already.
    let trail: @Sendable () -> (any AuditTrail)?
    let warn: @Sendable (String) -> Void
    /// What this daemon is called among nodes that share the journal; nil where it has its own.
    var node: String?

    /// The number that the change is known by.
    func begin(_ entry: AuditEntry) -> Int64? {
        write { trail throws(JournalError) in try trail.beginAudit(entry) }
    }

    func end(_ number: Int64?, _ result: String) {
        guard let number else { return }
        write { trail throws(JournalError) in try trail.endAudit(number, result: told(result)) }
    }

    /// Puts a change on record that was made already.
    func note(_ entry: AuditEntry) {
        var entry = entry
        entry.result = entry.result.map(told)
        write { [entry] trail throws(JournalError) in _ = try trail.beginAudit(entry) }
    }

    private func told(_ result: String) -> String { node.map { "\($0): \(result)" } ?? result }

    @discardableResult
    private func write<Value>(_ body: (any AuditTrail) throws(JournalError) -> Value) -> Value? {
        guard let trail = trail() else { return nil }
        do throws(JournalError) {
            return try body(trail)
        } catch {
            warn("a change cannot be put on record: \(error.message)")
            return nil
        }
    }
}
