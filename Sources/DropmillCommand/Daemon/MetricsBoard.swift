import Control
import Files
import Journal
import PipelineEngine
import Synchronization
import SystemPackage

/// Tells the daemon's metrics, in which form they are asked for. Called on the look's queue.
final class MetricsBoard: Sendable {
    private struct Memory {
        var time: Timestamp
        var report: MetricsReport
        var answers: [MetricsVerb.Arguments: MetricsVerb.Answer] = [:]
    }

    /// Different questions whose answers are kept.
    private static let mostAnswers = 8
    /// Bytes of an answer, of which the line has room for some more.
    private static let largest = 7 << 20

    private let look: SharedLook
    private let reloader: Reloader
    private let journal: any JournalStore
    private let began = Timestamp.now()
    private let last = Mutex<Memory?>(nil)

    init(_ look: SharedLook, _ reloader: Reloader, _ journal: any JournalStore) {
        (self.look, self.reloader, self.journal) = (look, reloader, journal)
    }

    func answer(_ arguments: MetricsVerb.Arguments) throws(ControlProblem) -> MetricsVerb.Answer {
        let labels = arguments.labels ?? [:]
        if let problem = MetricsText.problem(with: labels) { throw ControlProblem(problem) }
        var memory = current
        if memory.report.node != nil, labels["node"] != nil {
            throw ControlProblem("'node' is a label of ours, where nodes share a journal")
        }
        if let answer = memory.answers[arguments] { return answer }
        let families = memory.report.families + (arguments.process == true ? memory.report.processFamilies : [])
        let text = MetricsText.text(
            of: families, as: arguments.openMetrics == true ? .openMetrics : .prometheus, labels: labels)
        guard text.utf8.count <= Self.largest else {
            throw ControlProblem("there is more than \(ByteSize(bytes: Int64(Self.largest))) of metrics")
        }
        let answer = MetricsVerb.Answer(text: text)
        if memory.answers.count < Self.mostAnswers { memory.answers[arguments] = answer }
        last.withLock { [memory] in $0 = memory }
        return answer
    }

    private var current: Memory {
        let finding = look.finding
        if let last = last.withLock({ $0 }), last.time == finding.time { return last }
        return Memory(time: finding.time, report: report(finding))
    }

    private func report(_ finding: SharedLook.Finding) -> MetricsReport {
        let pipelines = finding.gauges.map { gauges in
            MetricsReport.Pipeline(
                gauges: gauges, figures: finding.figures.map { $0[gauges.name] ?? Figures() },
                longestWait: finding.inboxes[gauges.name]?.oldest,
                free: Set(gauges.folders).sorted { $0.text < $1.text }.compactMap { folder in
                    finding.spaces[folder].map { (folder.text, $0.free) }
                })
        }
        var isReloaded = true
        if case .refused = reloader.last?.outcome { isReloaded = false }
        return MetricsReport(
            version: BuildVersion.number, startedAt: finding.run?.startedAt ?? began, isReloaded: isReloaded,
            reloadedAt: reloader.takenAt, pipelines: pipelines, journalBytes: journal.bytes,
            process: .read(), now: finding.time, node: finding.nodes?.node, nodes: finding.nodes?.report?.metrics)
    }
}
