import Control
import Files
import Glibc
import Journal
import PipelineEngine
import PipelineKit

/// How `pause`, `drain` and `resume` are carried out.
enum Holding {
    /// By the running daemon; where none runs the order is put on record, so that the next start obeys it from its
    /// first moment. In a journal that nodes share it is put on record at once, and they look for it.
    static func carryOut(
        _ kind: HoldRecord.Kind?, _ pipelines: [String], reason: String = "", for time: Duration? = nil,
        on node: String?, in folder: StateFolder
    ) throws {
        let order: HoldOrder
        do throws(HoldRefusal) {
            order = try HoldOrder(
                kind, by: AccountName.user(geteuid()), user: geteuid(), reason: reason, for: time, on: node)
        } catch {
            StandardError.print("error: \(error.message)")
            throw ExitStatus.failure
        }
        let arguments = HoldVerb.Arguments(
            kind: kind, pipelines: pipelines, reason: reason, seconds: time?.seconds, node: node)
        let answer = try DaemonRequest.ask(HoldVerb.self, arguments, in: folder, sharedByAnyone: true) {
            journal throws(JournalError) in
            let result = try change(journal, order, pipelines, at: .now())
            return result.map { .init($0) }.mapError { ControlProblem($0.message) }
        }
        for line in answer.lines { print(line) }
        for line in answer.kept ?? [] { StandardError.print("error: \(line)") }
        if answer.kept != nil { throw ExitStatus.failure }
        guard answer.lines.isEmpty else { return }
        guard kind == nil else {
            StandardError.print("error: there is no pipeline to be held")
            throw ExitStatus.failure
        }
        print("no pipeline is held")
    }

    /// In a journal that nobody else writes to, or that nodes share.
    static func change(
        _ journal: any Journal, _ order: HoldOrder, _ pipelines: [String], at now: Timestamp
    ) throws(JournalError) -> Result<HoldChange, HoldRefusal> {
        let loaded = try journal.pipelines().map(\.name)
        let before = try journal.holds().filter { !$0.isOver(at: now) }
        let nodes = try (journal as? any SharedJournal)?.names() ?? []
        let change: HoldChange
        do throws(HoldRefusal) {
            change = try HoldChange(
                order, of: pipelines, loaded: loaded, before: before, nodes: nodes, at: now)
        } catch {
            return .failure(error)
        }
        try journal.change(change)
        return .success(change)
    }
}
