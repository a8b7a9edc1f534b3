@preconcurrency import Dispatch
import Files
import Journal
import PipelineKit
import SystemPackage

/// How pipelines that are added or changed follow those before them: in the same work folder with all of its jobs, or
/// in another one, and then what is unfinished in the last one goes on there by itself, as its tail.
extension Engine {
    /// One that others follow.
    struct Former: Sendable {
        let id: RunnerID
        let name: String
        let work: WorkFolder
        let inbox: FilePath
        /// Whose its reserved folders are.
        let owner: String
    }

    /// One that is added or changed.
    struct Arrival: Sendable {
        let pipeline: Pipeline
        /// Those whose jobs are its own from now on.
        let before: [Former]
        /// Where its work folder is.
        let here: WorkPlace
        /// Where these may have jobs.
        let places: [WorkPlace]
        /// The one of these in whose work folder it goes on.
        let heir: RunnerID?
        /// What it goes on with there.
        let spool: Spool?
        /// Its inbox, where it goes on with that.
        let inbox: InboxIdentity?
        /// Its folders, as they are now.
        let seen: ReservedFolders.Seen
        /// Its own work folder, opened; nil where it goes on in that of another, and once it is prepared.
        var opened: Opened?
        var prepared: Prepared?
        /// The lock of an inbox that is new to it.
        var inboxLock: FolderLock?

        /// The names of those whose jobs are its own and of which nothing is at work.
        var resting: [String] {
            [pipeline.name, pipeline.formerly].compactMap(\.self).filter { name in
                !before.contains { $0.name == name }
            }
        }

        /// Tells its work folder, and what else is to be known before it runs. Looks at nothing.
        func passWork(_ reserved: ReservedFolders) {
            for former in before where former.id != heir {
                reserved.pass(from: former.owner, to: former.work.path.string)
            }
            reserved.note(seen, of: pipeline.name)
            before.first { $0.id == heir }?.work.serve(pipeline, from: inbox)
        }

        /// Gives its folders back, where it is not to run.
        func release() {
            prepared?.release()
            opened?.release()
            inboxLock?.release()
        }
    }

    /// Finds out what it follows, and tries its folders; opens its work folder where that is a new one.
    nonisolated func arrival(of new: Pipeline, _ mayLook: Lookout.Permit) throws(EngineError) -> Arrival {
        let (before, last, works, others) = sync { engine in
            let last = engine.all.filter { $0.successor == nil }
            let names = [new.name, new.formerly]
            let (before, others) = (
                last.filter { names.contains($0.pipeline.name) }, last.filter { !names.contains($0.pipeline.name) }
            )
            return (
                before.map {
                    Former(
                        id: $0.id, name: $0.pipeline.name, work: $0.intake.spool.work, inbox: $0.pipeline.inbox,
                        owner: $0.intake.spool.owner)
                },
                before.last { $0.pipeline.name == new.name }?.pipeline,
                before.flatMap(\.works), others.map { ($0.pipeline.name, $0.intake.spool.work.path) }
            )
        }
        for folder in new.folders {
            guard mayLook(folder) else { throw .refused("\(new.source.text): '\(folder.text)' does not answer") }
            _ = FileIdentity.of(folder, followingLinks: true)
        }
        let shared = sync { $0.opened?.shared }
        let path = try EngineError.wrapping { () throws(FolderError) in
            let own = OwnFolders(of: new)
            let isWhereItWas = last?.inbox == new.inbox && last?.work == new.work
            // One that is away is not to be made where it would be.
            if !isWhereItWas { try own.makeInbox() }
            try own.prepare()
            return isWhereItWas
                ? before.last { $0.name == new.name }?.work.path
                : try WorkFolder.place(of: new, shared?.incarnationID)
        }
        guard let path else { throw .refused("\(new.source.text): its work folder is unknown") }
        let heir = before.last { $0.work.path == path }
        if heir == nil, let other = others.first(where: { $0.1 == path }) {
            throw .refused(
                "\(new.source.text): the work folder '\(path.text)' is still that of the pipeline '\(other.0)'; use "
                    + "another one, or take over its jobs with 'formerly: \(other.0)'")
        }
        if heir == nil, works.contains(where: { $0.path == path }) {
            throw .refused(
                "\(new.source.text): the work folder '\(path.text)' may hold jobs of an earlier run, and going on with "
                    + "them takes a restart; use another one until then")
        }
        var lock: FolderLock?
        if let heir, heir.inbox != new.inbox {
            lock = try EngineError.wrapping { () throws(FolderError) in
                try heir.work.check(new)
                return try lockInbox(of: new)
            }
        }
        let opened = heir == nil ? try open(new, of: shared) : nil
        // Else it is told with its other folders (`share`).
        if heir != nil, let shared {
            do throws(IOError) { try know(new, shared) } catch { throw .refused("\(new.source.text): \(error)") }
        }
        let known = heir?.inbox == new.inbox ? works.first { $0.path == path } : nil
        return Arrival(
            pipeline: new, before: before,
            here: known ?? WorkPlace(path: path, beside: new.inbox),
            places: works.filter { $0.path != path }, heir: heir?.id,
            spool: heir.map {
                Spool(
                    pipeline: new, work: $0.work, reserved: reserved, made: madeFolders, renames: renames,
                    outstanding: outstandingLines)
            }, inbox: InboxIdentity(of: new.inbox), seen: ReservedFolders.Seen(new), opened: opened, inboxLock: lock)
    }

    /// Its runner, which all that was before hands over to, or to tails.
    func follow(_ arrival: Arrival, _ retiring: DispatchGroup) -> PipelineRunner? {
        let new = arrival.pipeline
        var main: PipelineRunner?
        if let prepared = arrival.prepared {
            main = runner(of: prepared.spool, nextID(new.name))
            main?.found(prepared)
            if let lock = prepared.inboxLock { inboxLocks[new.inbox] = lock }
        } else if let spool = arrival.spool, let heir = arrival.heir.flatMap({ runner($0) }) {
            if heir.intake.spool.isTail { reserved.forget(heir.intake.spool.owner) }
            main = succeed(heir, with: spool, retiring)
            main?.works = [arrival.here] + arrival.places
            if let lock = arrival.inboxLock { inboxLocks[new.inbox] = lock }
        }
        for former in arrival.before where former.id != arrival.heir {
            guard let old = runner(former.id) else { continue }
            let tail = succeed(old, with: old.intake.spool.tail(of: new), retiring)
            if let tail { tails.append(tail) }
        }
        if main?.found == nil { main?.note() }
        for former in arrival.before where former.name != new.name { runner(former.id)?.leaveWorks() }
        return main
    }

    /// A runner of the next generation, which takes over the work folder and all jobs.
    private func succeed(
        _ old: PipelineRunner, with spool: Spool, _ retiring: DispatchGroup
    ) -> PipelineRunner? {
        let new = spool.pipeline
        guard let runner = runner(of: spool, nextID(new.name)) else { return nil }
        (runner.parked, old.parked) = (old.parked, 0)
        runner.found = old.found.map { found in
            var found = found
            found.resumed = found.resumed.map { $0.goingOn(under: new) }
            found.adopted = found.adopted.map { $0.passed(to: new.name) }
            return found
        }
        (runner.foundCount, old.found) = (old.foundCount, nil)
        (runner.adopted, old.adopted) = (old.adopted.map { $0.passed(to: new.name) }, [])
        retire(old, to: runner, retiring)
        return runner
    }

    func retire(_ old: PipelineRunner, to new: PipelineRunner?, _ retiring: DispatchGroup) {
        let isRetired = old.machine.isRetired
        if !isRetired, let new {
            // They are among what the new one may have at once, wherever they end.
            new.intake.reserve(all.filter { $0.last === old }.flatMap { $0.jobs.values.map(\.job) })
        }
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

    /// An inbox is watched once all that watched it before have ended.
    func startIntakes() {
        for runner in tails + runners where !runner.hasIntakeBegun && runner.found == nil {
            let before = retired.filter { $0.last === runner }
            let watchers = retired.filter { $0.pipeline.inbox == runner.pipeline.inbox }
            guard (before + watchers).allSatisfy({ $0.left != nil }) else { continue }
            runner.hasIntakeBegun = true
            let left = before.flatMap { $0.left ?? [] }.map { $0.passed(to: runner.pipeline.name) }
            for old in before { old.left = [] }
            runner.intake.start(adopting: runner.adopted, leftBefore: left)
            runner.adopted = []
        }
    }

    /// Ends tails in which nothing is left to be done.
    func endTails() {
        let over = tails.filter { tail in tail.isOver && !retired.contains { $0.successor === tail } }
        guard !over.isEmpty else { return }
        tails.removeAll { tail in over.contains { $0 === tail } }
        for tail in over {
            reserved.forget(tail.intake.spool.owner)
            if let main = runners.first(where: { $0.pipeline.name == tail.pipeline.name }) {
                main.summary.add(tail.summary)
                tail.summary = RunSummary()
                // A start looks there for what is left alone.
                if tail.parked == 0 { main.works.removeAll { $0.path == tail.intake.spool.work.path } }
                (main.parked, tail.parked) = (main.parked + tail.parked, 0)
                main.note()
            }
            retire(tail, to: nil, DispatchGroup())
        }
    }

    /// Closes retired runners that have nothing more to do.
    func closeRelieved() {
        endTails()
        var hasClosed = false
        for runner in retired where runner.isRelieved && !retired.contains(where: { $0.successor === runner }) {
            if let successor = runner.successor {
                // What its intake left stays with the one that goes last.
                guard runner.left?.isEmpty ?? true || successor.left != nil else { continue }
                successor.left?.append(contentsOf: runner.left ?? [])
                forget(runner)
                hasClosed = true
                continue
            }
            // All of a name go together: what is at work is known in memory alone, and what is not, by the journal.
            let name = runner.pipeline.name
            guard !isArriving(name), retired.allSatisfy({ !$0.isLeaving(name) || $0.isRelieved }) else { continue }
            runner.leave()
            let count = runner.unfinished + (runner.left?.count ?? 0)
            forget(runner)
            if count > 0 {
                report(UnloadedJobs(name, count, inbox: runner.pipeline.inbox, among: runners.map(\.pipeline)))
            }
            close(runner)
            hasClosed = true
        }
        if hasClosed { releaseInboxes() }
    }

    /// Brings what its stages made to the disk, which may take long, and gives its work folder back.
    private func close(_ runner: PipelineRunner) {
        let work = runner.intake.spool.work
        let results = runner.results
        closings.enter()
        let queue = DispatchQueue(label: "dropmill.\(runner.pipeline.name).closing")
        queue.async { @Sendable [weak self, closings] in
            var hasLosses = false
            if let results {
                do throws(IOError) { try results.sync() } catch { hasLosses = true }
                hasLosses = hasLosses || results.hasLostWrites
            }
            work.release()
            if hasLosses { self?.enqueue { engine in engine.hasLosses = true } }
            closings.leave()
        }
    }

    /// Gives back the locks of inboxes that no pipeline has any more, which may take long.
    func releaseInboxes() {
        let used = Set((all.map(\.pipeline) + arriving).map(\.inbox))
        let locks = inboxLocks.filter { !used.contains($0.key) }
        guard !locks.isEmpty else { return }
        for inbox in locks.keys { inboxLocks[inbox] = nil }
        closings.enter()
        DispatchQueue(label: "dropmill.closing").async { @Sendable [closings] in
            for lock in locks.values { lock.release() }
            closings.leave()
        }
    }
}

extension Pipeline {
    /// All that a reload looks at before it takes it.
    fileprivate var folders: [FilePath] {
        [inbox] + (work.map { [$0] } ?? []) + OwnFolders.targets(of: self).map(\.path)
    }
}
