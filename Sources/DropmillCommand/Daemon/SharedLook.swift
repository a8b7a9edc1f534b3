@preconcurrency import Dispatch
import Files
import Journal
import PipelineEngine
import Synchronization
import SystemPackage

/// What metrics and page both tell of: gathered once a second at most, however many ask, and anew after a
/// change. Called on one queue.
final class SharedLook: Sendable {
    /// How things were at one moment.
    struct Finding: Sendable {
        /// In order: the pipelines, as the engine knows them.
        let gauges: [PipelineGauges]
        /// Of those that answered.
        let inboxes: [String: InboxSnapshot]
        /// Of folders whose file systems answered.
        let spaces: [FilePath: FreeSpace.Space]
        /// What the journal has counted; nil where it cannot be read.
        let figures: [String: Figures]?
        let openFailures: [String: Int]?
        let run: RunRecord?
        /// Of a journal that nodes share.
        let nodes: NodesLook.Finding?
        let isStopping: Bool
        let time: Timestamp
        fileprivate let gathered: MonotonicTime
    }

    private static let memory = Duration.seconds(1)
    /// For how long all inboxes together, and all file systems together, may be asked.
    private static let patience = (inboxes: Duration.seconds(1), disks: 0.5)

    let engine: Engine
    /// What both are asked on: inboxes are asked meanwhile, and nothing else waits for that.
    let queue = DispatchQueue(label: "dropmill.control.board")
    private let nodes: NodesLook
    private let lookout = Lookout(label: "dropmill.board")
    private let last = Mutex<(finding: Finding?, changes: UInt)>((nil, 0))

    init(_ engine: Engine) { (self.engine, nodes) = (engine, NodesLook(engine)) }

    /// On the queue.
    var finding: Finding {
        dispatchPrecondition(condition: .onQueue(queue))
        let (last, changes) = last.withLock { $0 }
        if let last, MonotonicTime.now() - last.gathered < Self.memory { return last }
        let finding = gather()
        // What was changed meanwhile may not be in it.
        self.last.withLock { if $0.changes == changes { $0.finding = finding } }
        return finding
    }

    /// Something was changed: whoever asks from now on sees it.
    func forget() { last.withLock { $0 = (nil, $0.changes &+ 1) } }

    private func gather() -> Finding {
        let figures = journal { () throws(JournalError) in try engine.figures() }
        let open = journal { () throws(JournalError) in try engine.openFailures() }
        let run = journal { () throws(JournalError) in try engine.reading?.lastRun() } ?? nil
        let report = waiting
        let gauges = engine.gauges
        let spaces = spaces(at: Set(gauges.flatMap(\.folders)))
        // It counts from when it was gathered, which may have taken its time.
        return Finding(
            gauges: gauges, inboxes: report?.inboxes ?? [:], spaces: spaces, figures: figures, openFailures: open,
            run: run, nodes: nodes.finding, isStopping: report?.isStopping ?? false, time: .now(), gathered: .now())
    }

    /// Nil where it cannot be read, which `health` tells of.
    private func journal<Value>(_ read: () throws(JournalError) -> Value) -> Value? {
        do throws(JournalError) { return try read() } catch { return nil }
    }

    private var waiting: WaitingReport? {
        let found = Mutex<WaitingReport?>(nil)
        let answered = DispatchSemaphore(value: 0)
        engine.reportWaiting(limit: 0, within: Self.patience.inboxes) { @Sendable report in
            found.withLock { $0 = report }
            answered.signal()
        }
        answered.wait()
        return found.withLock { $0 }
    }

    /// Of file systems that answer. One that did not is not asked again until it has.
    private func spaces(at folders: Set<FilePath>) -> [FilePath: FreeSpace.Space] {
        let deadline = DispatchTime.now() + Self.patience.disks
        var spaces: [FilePath: FreeSpace.Space] = [:]
        for folder in folders {
            let outcome = lookout.attempt(until: deadline) { @Sendable permit in
                permit(folder) ? FreeSpace.space(at: folder) : nil
            }
            if case .over(let space) = outcome { spaces[folder] = space }
        }
        return spaces
    }
}
