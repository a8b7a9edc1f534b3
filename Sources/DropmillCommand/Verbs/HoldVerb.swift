import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit

/// How `pause`, `drain` and `resume` are carried out.
enum HoldVerb {
    /// Puts an order on record where no daemon runs, so that the next start obeys it from its first moment.
    static func carryOut(
        _ kind: HoldRecord.Kind?, _ pipelines: [String], reason: String = "", for time: Duration? = nil,
        in folder: StateFolder
    ) throws {
        let order: HoldOrder
        do throws(HoldRefusal) {
            order = try HoldOrder(
                kind, by: AccountName.user(geteuid()), user: geteuid(), reason: reason, for: time)
        } catch {
            throw refused(error.message)
        }
        let lock: FolderLock
        do throws(FolderError) {
            lock = try FolderLock(folder.path, describedAs: "the state folder")
        } catch {
            throw refused(error.message)
        }
        defer { lock.release() }
        let result = try folder.write { journal throws(JournalError) in
            try change(journal, order, pipelines, at: .now())
        }
        switch result {
        case .success(let change): for line in lines(of: change) { print(line) }
        case .failure(let refusal): throw refused(refusal.message)
        }
    }

    /// In a journal that nobody else writes to.
    static func change(
        _ journal: any Journal, _ order: HoldOrder, _ pipelines: [String], at now: Timestamp
    ) throws(JournalError) -> Result<HoldChange, HoldRefusal> {
        let loaded = try journal.pipelines().map(\.name)
        let before = try journal.holds().filter { !$0.isOver(at: now) }
        let change: HoldChange
        do throws(HoldRefusal) {
            change = try HoldChange(order, of: pipelines, loaded: loaded, before: before, at: now)
        } catch {
            return .failure(error)
        }
        try journal.change(change)
        return .success(change)
    }

    /// A line for each pipeline.
    static func lines(of change: HoldChange) -> [String] {
        change.held.map { "\($0.pipeline): \($0.news)" } + change.lifted.map { "\($0.pipeline): resumed" }
            + change.free.map { "\($0): was not held" }
    }

    private static func refused(_ message: String) -> any Error {
        StandardError.print("error: \(message)")
        return ExitStatus.failure
    }
}
