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
    package nonisolated func reload(_ new: [Pipeline]) throws(EngineError) -> [PipelineChange] {
        guard !configuration.once else { throw .refused("a run with --once reads its pipelines once") }
        try DescriptorLimit.check(pipelines: new.count)
        let (old, state) = sync { ($0.runners.map(\.pipeline), $0.opened) }
        guard let state else { throw .refused("the daemon is stopping") }
        let changes = PipelineChange.changes(from: old, to: new)
        let plan = Plan(changes, from: old, to: new)
        try plan.check()
        if new.contains(where: { $0.durability == .full }) {
            try orShortage { () throws(JournalError) in try state.journal.makeDurable() }
        }
        sync { $0.keepLeaving(plan.added) }
        closings.wait()
        for (work, new) in sync({ $0.workFolders(of: plan) }) {
            reserved.note(new)
            work.keepSlots(for: new)
        }
        var prepared: [Prepared] = []
        do throws(EngineError) {
            try prepareAdded(&prepared, plan.added, state)
        } catch {
            abandon(prepared)
            throw error
        }
        let retiring = DispatchGroup()
        guard let removed = sync({ [prepared] in $0.swap(plan, prepared, retiring) }) else {
            abandon(prepared)
            throw .refused("the daemon is stopping")
        }
        // An intake may be on a file system that does not answer: what it claims nevertheless runs as is said now.
        _ = retiring.wait(timeout: .now() + Self.patience)
        let made = changes.map { change in
            guard case .removed = change.kind else { return change }
            return PipelineChange(change.pipeline, .removed(unfinished: removed[change.pipeline] ?? 0))
        }
        observer(.reloaded(made))
        return made
    }

    /// How many seconds are waited for inboxes that are left.
    private static var patience: Double { 5 }

    /// What is to be done.
    struct Plan: Sendable {
        let order: [String]
        var added: [Pipeline] = []
        var changed: [(old: Pipeline, new: Pipeline)] = []
        var removed: [Pipeline] = []

        init(_ changes: [PipelineChange], from old: [Pipeline], to new: [Pipeline]) {
            order = new.map(\.name)
            let before = Dictionary(old.map { ($0.name, $0) }) { first, _ in first }
            let after = Dictionary(new.map { ($0.name, $0) }) { first, _ in first }
            for change in changes {
                switch (change.kind, before[change.pipeline], after[change.pipeline]) {
                case (.added, _, let new?): added.append(new)
                case (.changed, let old?, let new?): changed.append((old, new))
                case (.removed, let old?, _): removed.append(old)
                default: break
                }
            }
        }

        /// Throws where what is changed cannot be while its jobs are under way, or its folders cannot be used.
        func check() throws(EngineError) {
            for (old, new) in changed {
                guard old.inbox == new.inbox, old.work == new.work else {
                    throw .refused(
                        "\(new.source.text): the '\(old.inbox == new.inbox ? "work" : "inbox")' of '\(new.name)' was "
                            + "changed, which takes a restart; or give the pipeline another name as well")
                }
                try EngineError.wrapping { () throws(FolderError) in try OwnFolders(of: new).prepare() }
            }
        }
    }

    /// As at a start, but that what this run itself has left was left in order.
    private nonisolated func prepareAdded(
        _ prepared: inout [Prepared], _ added: [Pipeline], _ state: OpenedState
    ) throws(EngineError) {
        let known = sync { $0.awaited }
        let new = added.filter { !known.contains($0.name) }
        guard !new.isEmpty else { return }
        let records = try orShortage { () throws(JournalError) in
            try state.writer.flush()
            let names = Set(new.map(\.name))
            return try state.journal.unfinished().filter { names.contains($0.pipeline) }
        }
        try prepare(new, into: &prepared, with: state, records, wereLoaded: sync { $0.loaded })
    }

    private nonisolated func orShortage<Value>(_ body: () throws(JournalError) -> Value) throws(EngineError) -> Value {
        do throws(JournalError) {
            return try body()
        } catch {
            throw EngineError(kind: .shortage, message: "\(error.message) \(error.remedy)")
        }
    }

    /// Puts it in force: how many jobs removed pipelines have; nil where the engine is stopping.
    private func swap(_ plan: Plan, _ prepared: [Prepared], _ retiring: DispatchGroup) -> [String: Int]? {
        guard !isStopping, opened != nil else { return nil }
        var current = Dictionary(runners.map { ($0.pipeline.name, $0) }) { first, _ in first }
        var unfinished: [String: Int] = [:]
        for pipeline in plan.removed {
            guard let old = current.removeValue(forKey: pipeline.name) else { continue }
            // Those of earlier generations come to it.
            let all = [old] + retired.filter { $0.last === old }
            unfinished[pipeline.name] = all.reduce(0) { $0 + $1.unfinished }
            reserved.forget(pipeline.name)
            retire(old, to: nil, retiring)
        }
        for (_, new) in plan.changed {
            guard let old = current[new.name] else { continue }
            current[new.name] = succeed(old, with: new, retiring)
        }
        for new in plan.added where !prepared.contains(where: { $0.spool.pipeline.name == new.name }) {
            guard let old = leaving(new.name) else { continue }
            current[new.name] = succeed(old, with: new, retiring)
        }
        for pipeline in prepared {
            let new = pipeline.spool.pipeline
            let id = RunnerID(name: new.name, generation: nextGeneration(of: new.name))
            guard let runner = runner(of: pipeline.spool, id, pipeline.inboxLock) else { continue }
            runner.found(pipeline)
            current[new.name] = runner
        }
        runners = plan.order.compactMap { current[$0] }
        for runner in runners { runner.enterSuspects() }
        beginFound()
        awaited = []
        startIntakes()
        finishIfDone()
        return unfinished
    }

    /// The runner of a pipeline that was removed and is not over yet.
    private func leaving(_ name: String) -> PipelineRunner? {
        retired.last { $0.pipeline.name == name && $0.successor == nil }
    }

    /// Keeps those of these that are still leaving from being closed: their jobs go over in memory.
    private func keepLeaving(_ added: [Pipeline]) { awaited = Set(added.map(\.name).filter { leaving($0) != nil }) }

    /// What was prepared is not to run.
    private nonisolated func abandon(_ prepared: [Prepared]) {
        for pipeline in prepared { pipeline.release() }
        sync { engine in
            engine.awaited = []
            engine.finishIfDone()
        }
    }

    /// The work folders that pass to another generation.
    private func workFolders(of plan: Plan) -> [(work: WorkFolder, new: Pipeline)] {
        let current = Dictionary(runners.map { ($0.pipeline.name, $0) }) { first, _ in first }
        return (plan.changed.map(\.new) + plan.added).compactMap { new in
            (current[new.name] ?? leaving(new.name)).map { ($0.intake.spool.work, new) }
        }
    }

    /// A runner of the next generation, which takes over the work folder and all jobs.
    private func succeed(_ old: PipelineRunner, with new: Pipeline, _ retiring: DispatchGroup) -> PipelineRunner? {
        let spool = Spool(
            pipeline: new, work: old.intake.spool.work, reserved: reserved, made: madeFolders, renames: renames,
            outstanding: outstandingLines)
        let id = RunnerID(name: new.name, generation: nextGeneration(of: new.name))
        guard let runner = runner(of: spool, id, old.inboxLock) else { return old }
        (runner.works, runner.parked, old.parked) = (old.works, old.parked, 0)
        runner.found = old.found.map { found in
            var found = found
            found.resumed = found.resumed.map { $0.goingOn(under: new) }
            return found
        }
        (runner.foundCount, old.found) = (old.foundCount, nil)
        if runner.found == nil { runner.note() }
        retire(old, to: runner, retiring)
        return runner
    }

    private func retire(_ old: PipelineRunner, to new: PipelineRunner?, _ retiring: DispatchGroup) {
        let isRetired = old.machine.isRetired
        old.retire(to: new)
        guard !isRetired else { return }
        retired.append(old)
        retiring.enter()
        old.intake.retire { @Sendable [weak self, id = old.id] left in
            retiring.leave()
            self?.enqueue { engine in
                engine.runner(id)?.left = left
                engine.startIntakes()
                engine.finishIfDone()
            }
        }
    }

    /// The next number of a runner of this name.
    private func nextGeneration(of name: String) -> Int {
        ((runners + retired).filter { $0.id.name == name }.map(\.id.generation).max() ?? 0) + 1
    }

    /// An inbox is watched once all that watched it before have ended.
    private func startIntakes() {
        for runner in runners where !runner.hasIntakeBegun && runner.found == nil {
            let before = retired.filter { $0.last === runner }
            guard before.allSatisfy({ $0.left != nil }) else { continue }
            runner.hasIntakeBegun = true
            let left = before.flatMap { $0.left ?? [] }
            for old in before { old.left = [] }
            runner.intake.start(adopting: left, ofEarlierRun: false)
        }
    }

    /// Closes retired runners that have nothing more to do.
    func closeRelieved() {
        for runner in retired where runner.isRelieved && !retired.contains(where: { $0.successor === runner }) {
            if let successor = runner.successor {
                // What its intake left stays with the one that goes last.
                guard runner.left?.isEmpty ?? true || successor.left != nil else { continue }
                successor.left?.append(contentsOf: runner.left ?? [])
                forget(runner)
                continue
            }
            guard !awaited.contains(runner.pipeline.name) else { continue }
            runner.leave()
            let count = runner.unfinished + (runner.left?.count ?? 0)
            forget(runner)
            if count > 0 { reportUnloaded(runner.pipeline.name, count) }
            close(runner)
        }
    }

    /// Brings what its stages made to the disk, which may take long, and gives its folders back.
    private func close(_ runner: PipelineRunner) {
        let (work, inboxLock) = (runner.intake.spool.work, runner.inboxLock)
        let hasResults = runner.jobs.values.contains { $0.record.payload != nil }
        closings.enter()
        let queue = DispatchQueue(label: "dropmill.\(runner.pipeline.name).closing")
        queue.async { @Sendable [weak self, closings] in
            var hasLosses = false
            if hasResults {
                do throws(IOError) { try work.whole.sync() } catch { hasLosses = true }
                hasLosses = hasLosses || work.whole.hasLostWrites
            }
            work.release()
            inboxLock?.release()
            if hasLosses { self?.enqueue { engine in engine.hasLosses = true } }
            closings.leave()
        }
    }
}
