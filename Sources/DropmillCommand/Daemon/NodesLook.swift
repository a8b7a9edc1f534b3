@preconcurrency import Dispatch
import Files
import Journal
import PipelineEngine
import PostgresJournal
import Synchronization

/// The nodes that share the journal, as the database had them some seconds ago. It is asked on a queue of its own:
/// where it does not answer, whoever wants to know waits for a moment at most.
final class NodesLook: Sendable {
    /// This node, and all that there are.
    struct Finding: Sendable {
        let node: String
        /// Nil where they are not known.
        var report: NodesReport?
        /// How many jobs the others have that are not over.
        var elsewhere: [JobCount] = []
    }

    private struct Memory {
        var report: NodesReport?
        var elsewhere: [JobCount] = []
        /// When that was asked for, and when an answer came.
        var asked: MonotonicTime?
        var answered: MonotonicTime?
        var isAsking = false
    }

    /// For how long it is not asked again, for how long an answer counts, and how long the first one is waited for.
    private static let pause = Duration.seconds(3), validity = Duration.seconds(30), patience = 0.5

    private let engine: Engine
    private let queue = DispatchQueue(label: "dropmill.control.nodes")
    private let memory = Mutex(Memory())

    init(_ engine: Engine) { self.engine = engine }

    /// Nil where no journal is shared.
    var finding: Finding? {
        guard let journal = engine.reading as? PostgresJournal else { return nil }
        let (isDue, hasAnswer) = memory.withLock { memory in
            let isDue = !memory.isAsking && memory.asked.map { .now() - $0 >= Self.pause } ?? true
            if isDue { (memory.isAsking, memory.asked) = (true, .now()) }
            return (isDue, memory.report != nil)
        }
        if isDue {
            let answered = DispatchSemaphore(value: 0)
            queue.async { @Sendable [self] in
                ask(journal)
                answered.signal()
            }
            if !hasAnswer { _ = answered.wait(timeout: .now() + Self.patience) }
        }
        return memory.withLock { memory in
            let isValid = memory.answered.map { .now() - $0 < Self.validity } ?? false
            guard isValid else { return Finding(node: journal.node) }
            return Finding(node: journal.node, report: memory.report, elsewhere: memory.elsewhere)
        }
    }

    private func ask(_ journal: PostgresJournal) {
        let answer: (NodesReport?, [JobCount])?
        do throws(JournalError) {
            answer = (try NodesReport(journal, all: true), try journal.countsElsewhere())
        } catch {
            answer = nil
        }
        memory.withLock { memory in
            memory.isAsking = false
            guard let answer else { return }
            (memory.report, memory.elsewhere) = answer
            memory.answered = .now()
        }
    }
}

extension NodesReport {
    /// How long a node that has ended stays in the metrics.
    private static let memory = Duration.seconds(86_400)

    /// By name.
    var metrics: [MetricsReport.Node] {
        var all: [String: MetricsReport.Node] = [:]
        for node in nodes where node.record.isAlive || node.record.jobs > 0 || .zero - node.record.lease < Self.memory {
            let record = node.record
            var one = all[record.name] ?? MetricsReport.Node(name: record.name)
            one.isUp = one.isUp || record.isAlive
            one.jobs += record.jobs
            one.lease = max(one.lease, record.isDead ? .zero : record.lease)
            one.paused.formUnion(node.paused.map(\.name))
            all[record.name] = one
        }
        return all.values.sorted { $0.name < $1.name }
    }
}
