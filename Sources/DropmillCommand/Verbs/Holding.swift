import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit

/// How `pause`, `drain` and `resume` are carried out.
enum Holding {
    /// By the running daemon; where none runs the order is put on record, so that the next start obeys it from its
    /// first moment.
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
        let arguments = HoldVerb.Arguments(kind: kind, pipelines: pipelines, reason: reason, seconds: time?.seconds)
        let lines =
            folder.isHeldIfKnown == false
            ? try record(order, arguments, in: folder) : try ask(arguments, in: folder)
        for line in lines { print(line) }
    }

    private static func ask(_ arguments: HoldVerb.Arguments, in folder: StateFolder) throws -> [String] {
        do throws(ControlClient.Problem) {
            return try ControlClient.ask(HoldVerb.self, arguments, in: folder.path).lines
        } catch {
            throw refused(error.message)
        }
    }

    private static func record(
        _ order: HoldOrder, _ arguments: HoldVerb.Arguments, in folder: StateFolder
    ) throws -> [String] {
        let lock: FolderLock
        do throws(FolderError) {
            lock = try FolderLock(folder.path, describedAs: "the state folder")
        } catch {
            throw refused(error.message)
        }
        defer { lock.release() }
        let result = try folder.write { journal throws(JournalError) in
            let result = try change(journal, order, arguments.pipelines, at: .now())
            guard case .success(let change) = result else { return result.map { _ in [String]() } }
            let lines = change.lines
            let entry = AuditEntry(
                user: order.user, name: order.by, verb: HoldVerb.name, arguments: ControlLine.text(of: arguments),
                result: HoldVerb.result(.init(lines: lines)))
            _ = try (journal as? any AuditTrail)?.beginAudit(entry)
            return .success(lines)
        }
        switch result {
        case .success(let lines): return lines
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

    private static func refused(_ message: String) -> any Error {
        StandardError.print("error: \(message)")
        return ExitStatus.failure
    }
}
