@preconcurrency import Dispatch
import Files
import Journal
package import PipelineKit
import SystemPackage

extension Engine {
    /// Takes other pipelines in place of those that are loaded, all or none, and says what became of each. Returns when
    /// they are in force; no job is waited for. Blocks; one call at a time.
    ///
    /// What is unchanged notices nothing. A changed pipeline gets a runner of the next generation, which is given the
    /// jobs as the last one has nothing under way for them. A removed one ends what it has under way; its other jobs
    /// stay in the work folder.
    ///
    /// `settings`: what else has changed, for the log. `patience`: how many seconds are waited for the folders of those
    /// that are added or changed.
    package nonisolated func reload(
        _ new: [Pipeline], settings: [String] = [], patience: Double = 20
    ) throws(EngineError) -> Reloaded {
        guard !configuration.once else { throw .refused("a run with --once reads its pipelines once") }
        try DescriptorLimit.check(pipelines: new.count)
        let (old, state) = sync { ($0.runners.map(\.pipeline), $0.opened) }
        guard let state else { throw .refused("the daemon is stopping") }
        let changes = PipelineChange.changes(from: old, to: new)
        let plan = Plan(changes, to: new)
        if new.contains(where: { $0.durability == .full }) {
            try orShortage { () throws(JournalError) in try state.journal.makeDurable() }
        }
        let arrivals = try prepare(plan, state, within: patience)
        let retiring = DispatchGroup()
        let removed: [String: Int]
        do throws(EngineError) {
            let swapped = try passHolds(to: plan.arriving, state.journal) {
                for arrival in arrivals { arrival.passWork(reserved) }
                return sync { $0.swap(plan, arrivals, retiring) }
            }
            guard let swapped else { throw .refused("the daemon is stopping") }
            removed = swapped
        } catch {
            abandon(arrivals)
            throw error
        }
        state.keepHistory(memory: new.memory)
        // An intake may be on a file system that does not answer: what it claims nevertheless runs as is said now.
        _ = retiring.wait(timeout: .now() + Self.patienceWithOld)
        let made = changes.map { change in
            guard case .removed = change.kind else { return change }
            return PipelineChange(change.pipeline, .removed(unfinished: removed[change.pipeline] ?? 0))
        }
        observer(.reloaded(made, settings: settings))
        return Reloaded(changes: made, warnings: warnOfLeft(arrivals, state) + warnOfHeirs(plan, among: new, state))
    }

    /// How many seconds are waited for what is left, before a reload goes on without it.
    static var patienceWithOld: Double { 5 }

    /// What is to be done.
    struct Plan: Sendable {
        let order: [String]
        /// Those that are added or changed.
        var arriving: [Pipeline] = []
        /// The names of those that are not loaded any more.
        var removed: [String] = []

        init(_ changes: [PipelineChange], to new: [Pipeline]) {
            order = new.map(\.name)
            let after = Dictionary(new.map { ($0.name, $0) }) { first, _ in first }
            for change in changes {
                switch (change.kind, after[change.pipeline]) {
                case (.added, let new?), (.changed, let new?): arriving.append(new)
                case (.removed, _), (.takenOver, _): removed.append(change.pipeline)
                default: break
                }
            }
        }
    }

    /// Where a pipeline goes on in its work folder, what is at rest of one that it takes over comes with a start.
    private nonisolated func warnOfLeft(_ arrivals: [Arrival], _ state: OpenedState) -> [String] {
        var warnings: [String] = []
        for arrival in arrivals where arrival.heir != nil {
            guard let name = arrival.pipeline.formerly, arrival.resting.contains(name) else { continue }
            do throws(JournalError) {
                let count = try state.journal.unfinished().count { $0.pipeline == name }
                guard count > 0 else { continue }
                let message =
                    "unfinished jobs of the pipeline '\(name)' (\(count)) are taken over at the daemon's next start"
                observer(.warning(pipeline: arrival.pipeline.name, message: message))
                warnings.append("\(arrival.pipeline.name): \(message)")
            } catch {
                observer(.trouble(message: "\(error.message) \(error.remedy)"))
            }
        }
        return warnings
    }

    /// What comes may be what was removed by an earlier reload, under another name.
    private nonisolated func warnOfHeirs(_ plan: Plan, among new: [Pipeline], _ state: OpenedState) -> [String] {
        let (arriving, removed) = (Set(plan.arriving.map(\.name)), Set(plan.removed))
        guard !arriving.isEmpty else { return [] }
        do throws(JournalError) {
            // What is removed by this one is reported once nothing of it runs any more.
            return try UnloadedJobs.all(in: state.journal, but: new)
                .filter { left in
                    left.heir.map { arriving.contains($0.name) } ?? false && !removed.contains(left.pipeline)
                }
                .map { report($0) }
        } catch {
            observer(.trouble(message: "\(error.message) \(error.remedy)"))
            return []
        }
    }

    nonisolated func orShortage<Value>(
        _ body: () throws(JournalError) -> Value
    ) throws(EngineError) -> Value {
        do throws(JournalError) {
            return try body()
        } catch {
            throw EngineError(kind: .shortage, message: "\(error.message) \(error.remedy)")
        }
    }

    /// Puts it in force: how many jobs removed pipelines have; nil where the engine is stopping.
    private func swap(_ plan: Plan, _ arrivals: [Arrival], _ retiring: DispatchGroup) -> [String: Int]? {
        guard !isStopping, opened != nil else { return nil }
        var current = Dictionary(runners.map { ($0.pipeline.name, $0) }) { first, _ in first }
        for arrival in arrivals { current[arrival.pipeline.name] = follow(arrival, retiring) }
        var unfinished: [String: Int] = [:]
        for name in plan.removed {
            // Those of earlier generations come to the last ones.
            unfinished[name] = all.filter { $0.last.pipeline.name == name }.reduce(0) { $0 + $1.unfinished }
            reserved.forget(name)
            for runner in tails + runners where runner.pipeline.name == name && !runner.machine.isRetired {
                reserved.forget(runner.intake.spool.owner)
                retire(runner, to: nil, retiring)
            }
        }
        runners = plan.order.compactMap { current[$0] }
        tails.removeAll(where: \.machine.isRetired)
        for runner in tails + runners { runner.enterSuspects() }
        beginFound()
        arriving = []
        finishIfDone()
        return unfinished
    }
}
