import Files
import Journal
import SystemPackage

/// Where an engine of a test finds its journal, which stays in memory.
struct MemoryStore: JournalStore {
    let journal = MemoryJournal()

    func open(durable: Bool, checking: Bool) -> any EngineJournal { journal }

    func openForReading() -> any Journal { journal }

    func setAside(at time: Timestamp) throws(JournalError) -> FilePath {
        throw JournalError(.environment, "It is not damaged.")
    }

    func markDamaged() {}

    var bytes: Int64? { nil }
}

/// Tells nobody anything, and keeps no changes.
extension MemoryJournal {
    func outbox() -> (notices: [Notice], standings: [NoticeStanding], unreadable: Int) { ([], [], 0) }

    func change(_ change: OutboxChange) {}

    func failures(of pipeline: String, after time: Timestamp) -> RecentFailures { RecentFailures() }

    func failureCount(of pipeline: String, after time: Timestamp) -> UInt64 { 0 }

    func beginAudit(_ entry: AuditEntry) -> Int64 { 0 }

    func endAudit(_ number: Int64, result: String) {}
}
