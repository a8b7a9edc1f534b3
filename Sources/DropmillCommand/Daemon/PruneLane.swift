@preconcurrency import Dispatch
import Files
import Journal
import PipelineKit
import Retention
import Synchronization

/// The removal from one folder, on a queue of its own: a disk that does not answer holds up no other.
final class PruneLane: Sendable {
    /// What is to be kept there.
    struct Rule: Sendable, Equatable {
        var limits: KeepRule.Limits
        /// Where the oldest go for want of space: how much is to be free. Nil: they do not.
        var room: ByteSize?
    }

    /// What one run has done.
    struct Summary: Sendable {
        var files = 0
        var bytes: Int64 = 0
        var changed = 0
        var linked = 0
        /// Whether some were found not to be as they were left.
        private(set) var isNews = false
        private var hasBegun = false
        var troubles: [String] = []

        mutating func add(_ step: PruneStep) {
            // The first counts those that are known.
            if step.changed > 0, hasBegun { isNews = true }
            hasBegun = true
            files += step.removed.count
            bytes = bytes.addingSaturated(step.removed.map(\.bytes).saturatedSum)
            (changed, linked) = (changed + step.changed, linked + step.linked)
            troubles += step.troubles
        }
    }

    private struct State {
        /// Nil: all are kept, and a run that is under way ends.
        var rule: Rule?
        var isRunning = false
        /// Since when a step has been under way.
        var began: MonotonicTime?
    }

    let folder: KeptFolder
    private let queue: DispatchQueue
    private let world: PruneWorld
    private let state: Mutex<State>

    init(_ folder: KeptFolder, _ world: PruneWorld) {
        (self.folder, self.world) = (folder, world)
        queue = DispatchQueue(label: "dropmill.\(folder.pipeline).prune.\(folder.place.rawValue)")
        state = Mutex(State())
    }

    var rule: Rule? { state.withLock { $0.rule } }
    func use(_ rule: Rule?) { state.withLock { $0.rule = rule } }

    /// Whether a step has been under way for so long.
    func isStuck(for time: Duration, at now: MonotonicTime) -> Bool {
        state.withLock { $0.began.map { now - $0 >= time } ?? false }
    }

    typealias Done = @Sendable (Result<Summary, JournalError>?) -> Void

    /// Removes all that is to go, and tells what it did; nil: nothing, since it does so already, or space is not short.
    func run(ifShort: Bool = false, _ done: @escaping Done) {
        let (isNew, room) = state.withLock { state in
            defer { state.isRunning = true }
            return (!state.isRunning, state.rule?.room)
        }
        guard isNew else { return done(nil) }
        guard ifShort else { return goOn(from: PruneCursor(), Summary(), done) }
        queue.async { @Sendable [self] in
            if let room, world.isShort(folder.root, room) { return goOn(from: PruneCursor(), Summary(), done) }
            state.withLock { $0.isRunning = false }
            done(nil)
        }
    }

    private func goOn(from cursor: PruneCursor, _ before: Summary, _ done: @escaping Done) {
        step(from: cursor, isDry: false) { @Sendable [self] result in
            var summary = before
            if case .success(let step) = result {
                summary.add(step)
                if let next = step.next, !world.isClosing, rule != nil { return goOn(from: next, summary, done) }
            }
            state.withLock { $0.isRunning = false }
            done(result.map { _ in summary })
        }
    }

    /// Does one step, and calls back when the next may follow.
    func step(
        from cursor: PruneCursor, isDry: Bool, _ done: @escaping @Sendable (Result<PruneStep, JournalError>) -> Void
    ) {
        queue.async { @Sendable [self] in
            let rule = state.withLock { state in
                state.began = .now()
                return state.rule
            }
            let keeper = OriginalsKeeper(
                world.journal, folder, rule?.limits ?? KeepRule.Limits(), at: world.now(),
                isClockDoubtful: world.isClockDoubtful, isDry: isDry,
                isShort: { [world, folder] freed in
                    rule?.room.map { world.isShort(folder.root, $0, freed: freed) } ?? false
                })
            let result = Result { () throws(JournalError) in try keeper.step(from: cursor) }
            state.withLock { $0.began = nil }
            let step = try? result.get()
            let delay = world.pace.delay(removed: isDry ? 0 : step?.removed.count ?? 0, looked: step?.looked ?? 0)
            queue.after(delay) { @Sendable in done(result) }
        }
    }
}
