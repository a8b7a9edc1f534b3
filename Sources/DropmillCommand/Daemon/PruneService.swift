import Control
@preconcurrency import Dispatch
import Files
import Journal
import PipelineEngine
import PipelineKit
import Retention
import Synchronization
import SystemPackage

/// Has originals removed that pipelines are to keep no longer: soon after the start and every hour, where space is
/// short and that is wanted, and step by step for a person who asks. Without `keep` it is nothing but a timer.
final class PruneService: Sendable {
    private struct State {
        var world: PruneWorld?
        var lanes: [KeptFolder: PruneLane] = [:]
        var timer: (any DispatchSourceTimer)?
        /// When all were run last.
        var lastRun: MonotonicTime?
        /// What was told last of each folder, and of each pipeline.
        var troubles: [KeptFolder: String] = [:]
        var told: [String: String] = [:]
    }

    private static let hour = Duration.seconds(3600)
    private static let glance = Duration.seconds(60)
    /// How long the end of the daemon waits for steps that are under way, and that of a run with `--once` for all.
    private static let patience = (end: 2, once: 10)
    /// How much is looked at again: a clock that was set back by less leaves nothing out.
    private static let overlap = Duration.seconds(2 * 3600)
    private static let page = 2000

    private let once: Bool
    private let tell: @Sendable (EngineEvent) -> Void
    private let state = Mutex(State())
    /// Looks for what jobs have left, and at the time.
    private let queue = DispatchQueue(label: "dropmill.prune")
    private let running = DispatchGroup()

    init(once: Bool, tell: @escaping @Sendable (EngineEvent) -> Void) { (self.once, self.tell) = (once, tell) }

    /// The engine has started.
    func begin(_ engine: Engine, _ pipelines: [Pipeline]) {
        guard let journal = engine.originals else { return }
        let world = PruneWorld(journal, seen: engine.lastSeen)
        state.withLock { $0.world = world }
        use(pipelines)
        guard !once else { return }
        let timer = queue.every(Self.glance, leeway: .seconds(5)) { @Sendable [weak self] in self?.look() }
        state.withLock { $0.timer = timer }
    }

    /// Other pipelines are in force.
    func use(_ pipelines: [Pipeline]) {
        let rules = Dictionary(pipelines.flatMap(\.kept)) { first, _ in first }
        state.withLock { state in
            guard let world = state.world else { return }
            if !rules.keys.allSatisfy({ state.lanes[$0]?.rule != nil }) { state.lastRun = nil }
            // Those without a rule stay: a run of theirs may be about to end.
            for folder in rules.keys where state.lanes[folder] == nil { state.lanes[folder] = PruneLane(folder, world) }
            for (folder, lane) in state.lanes { lane.use(rules[folder]) }
            state.troubles = state.troubles.filter { rules[$0.key] != nil }
            world.journal.keep(Set(rules.keys))
        }
        tellTroubles()
    }

    /// The engine is about to close its journal.
    func close(_ done: @escaping @Sendable () -> Void) {
        DispatchQueue(label: "dropmill.prune.closing").async { @Sendable [self] in
            if once {
                queue.sync { runAll() }
                _ = running.wait(timeout: .now() + .seconds(Self.patience.once))
            }
            state.withLock { state in
                state.world?.close()
                state.timer?.cancel()
            }
            _ = running.wait(timeout: .now() + .seconds(Self.patience.end))
            done()
        }
    }

    // MARK: For a person

    /// Calls back when what jobs have left is known, with what keeps it from going on. `isFirst`: it has to look.
    func prepare(isFirst: Bool, _ done: @escaping @Sendable (ControlProblem?) -> Void) {
        guard isFirst else { return done(nil) }
        queue.async { @Sendable [self] in
            do throws(JournalError) {
                try collect()
                done(nil)
            } catch {
                done(ControlProblem("\(error.message) \(error.remedy)"))
            }
        }
    }

    /// In their order, of this pipeline or of all.
    func lanes(of pipeline: String?) -> [PruneLane] {
        state.withLock { state in
            state.lanes.values.filter { lane in
                lane.rule != nil && (pipeline == nil || lane.folder.pipeline == pipeline)
            }.sorted { $0.folder.order < $1.folder.order }
        }
    }

    // MARK: By itself

    /// Every minute, on the queue.
    private func look() {
        let now = MonotonicTime.now()
        let (lanes, isTime) = state.withLock { state in
            (state.lanes.values.filter { $0.rule != nil }, state.lastRun.map { now - $0 >= Self.hour } ?? true)
        }
        for lane in lanes where lane.isStuck(for: Self.glance, at: now) {
            note("'\(lane.folder.root.text)' does not answer; check its disk", of: lane.folder)
        }
        if isTime { return runAll() }
        for lane in lanes where lane.rule?.room != nil { run(lane, ifShort: true) }
    }

    /// On the queue.
    private func runAll() {
        let lanes = state.withLock { state in
            state.lastRun = .now()
            return state.lanes.values.filter { $0.rule != nil }
        }
        guard !lanes.isEmpty else { return }
        do throws(JournalError) {
            try collect()
            for lane in lanes { run(lane) }
        } catch {
            for lane in lanes { note(error.message, of: lane.folder) }
        }
    }

    private func run(_ lane: PruneLane, ifShort: Bool = false) {
        running.enter()
        lane.run(ifShort: ifShort) { @Sendable [self] result in
            switch result {
            case .success(let summary)?: note(summary, of: lane.folder)
            case .failure(let error)?: note(error.message, of: lane.folder)
            case nil: break
            }
            running.leave()
        }
    }

    /// Looks for what jobs have left since it looked last; on the queue.
    private func collect() throws(JournalError) {
        let (world, folders) = state.withLock { state in
            (state.world, state.lanes.values.filter { $0.rule != nil }.map(\.folder))
        }
        guard let world, !folders.isEmpty else { return }
        let now = world.now()
        var since = now
        for folder in folders {
            let known = try world.journal.standing(of: folder).collected
            since = min(since, known ?? Timestamp(nanoseconds: .min))
        }
        var last: ExpiredJob?
        repeat {
            last = try world.journal.collect(since: since.before(Self.overlap), after: last, limit: Self.page)
        } while last != nil && !world.isClosing
        guard !world.isClosing else { return }
        for folder in folders { try world.journal.note(collected: now, in: folder) }
    }

    private func note(_ summary: PruneLane.Summary, of folder: KeptFolder) {
        note(summary.troubles.first, of: folder)
        guard summary.files > 0 || summary.isNews else { return }
        tell(summary.files, summary.bytes, of: folder, PruneText.kept(changed: summary.changed, linked: summary.linked))
    }

    /// Tells how many have gone, if any; and what stays.
    func tell(_ files: Int, _ bytes: Int64, of folder: KeptFolder, _ kept: String? = nil) {
        guard files > 0 || kept != nil else { return }
        let removed = "removed \(PruneText.originals(files)) (\(ByteSize(bytes: bytes))) from '\(folder.root.text)'"
        let message = removed + (kept.map { "; \($0)" } ?? "")
        tell(.pruned(pipeline: folder.pipeline, files: files, message: message))
    }

    private func note(_ trouble: String?, of folder: KeptFolder) {
        state.withLock { state in
            guard state.world?.isClosing == false, state.lanes[folder]?.rule != nil else { return }
            state.troubles[folder] = trouble
        }
        tellTroubles()
    }

    /// What is news of each pipeline.
    private func tellTroubles() {
        let news = state.withLock { state in
            let sorted = state.troubles.sorted { $0.key.order < $1.key.order }
            let now = Dictionary(sorted.map { ($0.key.pipeline, $0.value) }) { first, _ in first }
            defer { state.told = now }
            return Set(state.told.keys).union(now.keys).sorted().filter { state.told[$0] != now[$0] }
                .map { ($0, now[$0]) }
        }
        for (pipeline, trouble) in news { tell(.pruning(pipeline: pipeline, trouble: trouble)) }
    }
}

extension KeptFolder {
    /// By pipelines, what was processed first.
    fileprivate var order: (String, Int) { (pipeline, place == .processed ? 0 : 1) }
}

extension Pipeline {
    /// The folders from which its originals are to go some day, each with its rule.
    fileprivate var kept: [(KeptFolder, PruneLane.Rule)] {
        guard let keep else { return [] }
        let room = keep.prunesWhenShort ? ByteSize(bytes: minFree.bytes.multipliedSaturated(by: 2)) : nil
        var all: [(KeptFolder, PruneLane.Rule)] = []
        if let limits = keep.processed, case .folder(let root) = processed {
            all.append((KeptFolder(name, .processed, root), PruneLane.Rule(limits: limits, room: room)))
        }
        if let limits = keep.failed {
            all.append((KeptFolder(name, .failed, failed), PruneLane.Rule(limits: limits, room: room)))
        }
        return all
    }
}
