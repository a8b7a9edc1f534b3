import Files
import Journal
import PipelineKit

/// How this process stands among those that share the journal, where there are others.
struct NodeStanding: Sendable {
    private let shared: (any SharedJournal)?
    private let others: LivingNodes

    init(_ shared: (any SharedJournal)? = nil, among others: LivingNodes = LivingNodes()) {
        (self.shared, self.others) = (shared, others)
    }

    /// Whether a drop is this node's to claim before others do.
    func isOwn(_ path: DropPath) -> Bool { others.isOwn(path) }

    /// How often it has changed which drops are this node's.
    var changes: Int { others.changes }

    /// Whether what is claimed is this node's to claim.
    func mayAct() -> Bool { shared?.mayAct ?? true }

    /// Asks who lists the inbox; nil where each node does.
    func lead(of pipeline: Pipeline) -> ScanLead? {
        guard pipeline.scan == .leader else { return nil }
        return shared.map { ScanLead(of: pipeline.name, $0) }
    }

    /// The nodes that are alive, by their incarnations; nil where that is not known, or there are no others.
    func living() -> Set<String>? {
        guard let shared else { return nil }
        do throws(JournalError) {
            _ = try shared.markDead()
            return Set(try shared.nodes().filter { !$0.isDead }.map(\.incarnation))
        } catch {
            return nil
        }
    }
}
