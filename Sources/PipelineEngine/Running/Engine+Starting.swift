import Files
package import Glibc
import Journal
import PipelineKit
import SystemPackage

nonisolated extension Engine {
    /// A pipeline with its open folders, and what earlier runs left in them.
    struct Prepared {
        let spool: Spool
        let findings: Recovery.Findings
        /// Where its work folder is, and before that where those are that hold jobs and cannot be reached.
        var works: [WorkPlace]
        let inboxLock: FolderLock?

        /// Gives its folders back, where it is not to run.
        func release() { Opened(work: spool.work, inboxLock: inboxLock).release() }
    }

    /// The state, and what the journal says of every job that is not over and of what people hold.
    typealias Opening = (state: OpenedState, unfinished: [JobRecord], holds: [HoldRecord])

    /// Locks the state folder, opens the journal and begins a run. A damaged journal is set aside with a warning
    /// and replaced: the work folders know every job.
    func openState() throws(EngineError) -> Opening {
        let (state, trusted) = (configuration.state, pipelines.flatMap(\.trust))
        let (warning, lock) = try EngineError.wrapping { () throws(FolderError) in
            (
                try PrivateState.prepare(state, trusting: trusted, members: configuration.members),
                // A verb that changes the journal where no daemon runs has it for a while.
                try FolderLock(state, describedAs: "the state folder", within: .seconds(1))
            )
        }
        if let warning { observer(.warning(pipeline: nil, message: warning)) }
        let opening: Opening
        do throws(JournalError) {
            opening = try openOrReplace(lock)
        } catch {
            lock.release()
            throw notStarted(error)
        }
        do throws(FolderError) {
            // What was made since.
            try opening.state.admit(configuration.members)
        } catch {
            opening.state.close()
            throw EngineError(error)
        }
        let keeper = HistoryKeeper(
            opening.state.journal, configuration.history, memory: pipelines.memory,
            seen: opening.state.lastRun.map { $0.endedAt ?? $0.startedAt }, archive: configuration.archive,
            observer: observer)
        opening.state.keepTidy(keeper, now: configuration.now, observer)
        return opening
    }

    /// Lets the members of a group reach the control socket from now on, and nobody else but its user. Returns who
    /// might before. Blocks.
    package func admit(_ members: gid_t?) throws(EngineError) -> gid_t? {
        guard let state = sync({ $0.opened }) else { throw .refused("the daemon is starting or stopping") }
        let before = state.members
        if members != before { try EngineError.wrapping { () throws(FolderError) in try state.admit(members) } }
        return before
    }

    private func openOrReplace(_ lock: FolderLock) throws(JournalError) -> Opening {
        do throws(JournalError) {
            return try open(lock)
        } catch {
            guard error.kind == .corrupt else { throw error }
            let aside = try configuration.journal.setAside(at: .now())
            observer(
                .trouble(
                    message:
                        "\(error.message) It was moved aside to '\(aside.text)' and a new one is created. Every "
                        + "unfinished job is kept in its work folder; finished jobs, and what was "
                        + "held by `pause` or `drain`, are only in the old journal"))
            return try open(lock)
        }
    }

    /// Reads all that the start needs, so that damage shows here.
    private func open(_ lock: FolderLock) throws(JournalError) -> Opening {
        let boot = Self.boot()
        let isDurable = pipelines.contains { $0.durability == .full }
        let journal = try configuration.journal.open(durable: isDurable, checking: true)
        do throws(JournalError) {
            let run = RunRecord(boot: boot, process: Int(getpid()), startedAt: .now())
            let lastRun = try journal.beginRun(run)
            let unfinished = try journal.unfinished()
            let holds = try journal.holds()
            let state = OpenedState(
                in: configuration.state, trusting: pipelines.flatMap(\.trust), members: configuration.members,
                lock: lock, store: configuration.journal, journal: journal, lastRun: lastRun, boot: boot,
                observer: observer, dropped: { @Sendable [weak self] in self?.drop($0) })
            state.keepInPlace(run, observer) { @Sendable [weak self] in self?.writeAll() }
            return (state, unfinished, holds)
        } catch {
            journal.close()
            throw error
        }
    }

    /// The error when the journal prevents the start, which needs an operator.
    private func notStarted(_ error: JournalError) -> EngineError {
        let remedy: String
        var kind = EngineError.Kind.configuration
        switch error.kind {
        case .corrupt:
            remedy = " Start Dropmill again: it is then moved aside, and every unfinished job is kept."
            OpenedState.noteDamage(to: configuration.journal, observer)
        case .environment:
            kind = .shortage
            remedy = " Dropmill has not started; start it again afterwards."
        case .newer, .missing: remedy = ""
        }
        return EngineError(kind: kind, message: error.message + remedy)
    }

    /// Opens pipelines' folders and brings them together with the journal's records; what changed by that is durable
    /// when this returns. Where it throws, those that are prepared have their folders open.
    ///
    /// `opened`: by name, those that are taken from there, as their folders are open already. `wereLoaded`: the names
    /// of those that this run has left in order. `keeping`: by name, places that are at work.
    func prepare(
        _ pipelines: [Pipeline], _ opened: inout [String: Opened], into prepared: inout [Prepared],
        with state: OpenedState, _ unfinished: [JobRecord],
        wereLoaded: Set<String> = [], keeping: [String: [WorkPlace]] = [:]
    ) throws(EngineError) {
        // All of them before any list is looked at.
        outstandingLines.note(unfinished)
        var records = Dictionary(grouping: unfinished, by: \.pipeline)
        var changed: [JobRecord] = []
        var before: [String: PipelineRecord] = [:]
        // What earlier runs of a node that shares its journal have left is anybody's.
        if state.shared == nil {
            do throws(JournalError) {
                before = Dictionary(try state.journal.pipelines().map { ($0.name, $0) }) { first, _ in first }
            } catch {
                throw notStarted(error)
            }
        }
        for pipeline in pipelines {
            let kept = keeping[pipeline.name] ?? []
            let names = [pipeline.name, pipeline.formerly].compactMap(\.self)
            // What only an earlier run has left may not be on the disk.
            let isOfThisRun =
                names.contains(where: wereLoaded.contains)
                && names.allSatisfy { records[$0] == nil || wereLoaded.contains($0) }
            var found = records.removeValue(forKey: pipeline.name) ?? []
            found += try takeOver(&records, by: pipeline, but: kept, &before, state.journal)
            let works = before[pipeline.name]?.works.filter { place in !kept.contains { $0.path == place.path } } ?? []
            let known = opened.removeValue(forKey: pipeline.name)
            let folders = if let known { known } else { try open(pipeline, of: state.shared) }
            var own = try prepare(
                pipeline, folders, found, works, state,
                after: isOfThisRun ? state.presentRun : works.lazy.compactMap(\.leftBy).first ?? state.lastRun)
            own.works += kept
            changed += own.findings.changed
            prepared.append(own)
        }
        var places: [PipelineRecord] = []
        for (name, left) in records.sorted(by: { $0.key < $1.key }) {
            // It may be loaded long after this run has ended in order.
            if !wereLoaded.contains(name), var record = before[name], record.works.contains(where: { $0.leftBy == nil })
            {
                for index in record.works.indices where record.works[index].leftBy == nil {
                    record.works[index].leftBy = state.lastRun
                }
                places.append(record)
            }
            if sync({ $0.awaited[name] }) != nil { continue }
            // Nobody is at them any more. Of what may have killed the daemon before, the state tells that it did again.
            if !sync({ $0.loaded.contains(name) }) {
                changed += left.filter { $0.state == .running && $0.recoveries == 0 }.map { found in
                    var record = found
                    record.state = .queued
                    return record
                }
            }
            report(UnloadedJobs(name, left.count, of: before[name], among: pipelines))
        }
        do throws(JournalError) {
            // Before anything is claimed, so that a later start knows the place even if this one dies.
            places += prepared.compactMap { own in
                own.spool.pipeline.record(works: own.works, after: before[own.spool.pipeline.name])
            }
            if !changed.isEmpty || !places.isEmpty { try state.journal.write(changed, pipelines: places) }
        } catch {
            throw notStarted(error)
        }
    }

    /// Removes what a kill left of copies that were on their way into the inboxes.
    func removeLeftovers(of pipelines: [Pipeline], _ state: OpenedState) throws(EngineError) {
        do throws(JournalError) {
            try Resubmission.removeLeftovers(state.journal, in: Resubmission.inboxes(of: pipelines))
        } catch {
            throw notStarted(error)
        }
    }

    /// A loaded one has its work folder at work, where only a start brings them. Returns what is reported.
    @discardableResult func report(_ left: UnloadedJobs) -> String {
        let message = left.text + (left.heir == nil ? "" : " at the next start")
        observer(.warning(pipeline: nil, message: message))
        return message
    }

    /// The records that were those of the pipeline that one names as `formerly`, on record as its own before anything
    /// is moved. `kept`: places that are at work, and not to be looked for.
    private func takeOver(
        _ records: inout [String: [JobRecord]], by pipeline: Pipeline, but kept: [WorkPlace],
        _ before: inout [String: PipelineRecord], _ journal: any Journal
    ) throws(EngineError) -> [JobRecord] {
        guard let name = pipeline.formerly, var former = before[name] else { return [] }
        let taken = (records.removeValue(forKey: name) ?? []).map { found in
            var record = found
            record.pass(to: pipeline.name, at: .now())
            return record
        }
        let places = former.works.filter { place in !kept.contains { $0.path == place.path } }
        guard !taken.isEmpty || !places.isEmpty else { return [] }
        var own = before[pipeline.name] ?? pipeline.record(at: .now())
        own.works += places.filter { place in !own.works.contains { $0.path == place.path } }
        former.works = []
        do throws(JournalError) {
            try journal.write(taken, pipelines: [own, former])
        } catch {
            throw notStarted(error)
        }
        (before[pipeline.name], before[name]) = (own, former)
        return taken
    }

    private func prepare(
        _ pipeline: Pipeline, _ opened: Opened, _ records: [JobRecord], _ works: [WorkPlace], _ state: OpenedState,
        after lastRun: RunRecord?
    ) throws(EngineError) -> Prepared {
        let work = opened.work
        do {
            try share(pipeline, work, state)
            let here = WorkPlace(path: work.path, beside: pipeline.inbox)
            if !works.isEmpty, !works.contains(where: { $0.path == work.path }),
                let known = pipeline.record(works: [here] + works, after: nil)
            {
                // Jobs that are taken over must be found by a later start, whatever happens to this one.
                try state.journal.write([], pipelines: [known])
            }
            let (records, left) = try bring(records, from: works, to: work, of: pipeline, state.journal)
            let folders = try work.folders()
            let covered = here.covered(by: works, isEmpty: folders.isEmpty)
            let recovery = Recovery(
                of: pipeline, in: work, lastRun: lastRun, boot: state.boot,
                isRemounted: here.isRemounted(since: works), mayBeAway: !covered.isEmpty || !left.isEmpty)
            let known = try Self.complete(records, of: pipeline, with: folders, state.journal)
            let findings = try recovery.reconcile(known.records, known.folders)
            for warning in findings.warnings { observer(.warning(pipeline: pipeline.name, message: warning)) }
            // Not forgotten as long as jobs may be there, however often it is started meanwhile.
            let away = (findings.stranded.isEmpty ? [] : covered) + left
            reportStranded(findings.stranded, of: pipeline, at: away)
            return Prepared(
                spool: Spool(
                    pipeline: pipeline, work: work, reserved: reserved, made: madeFolders, renames: renames,
                    outstanding: outstandingLines),
                findings: findings,
                works: [here] + away.suffix(Self.mostPlaces), inboxLock: opened.inboxLock)
        } catch {
            opened.release()
            if let error = error as? JournalError { throw notStarted(error) }
            if let error = error as? FolderError { throw EngineError(error) }
            let remedy = "check the work folder '\(work.path.text)'"
            if let error = error as? IOError {
                throw EngineError(FolderError(pipeline.source.text, error, remedy: remedy))
            }
            throw EngineError(kind: .configuration, message: "\(pipeline.source.text): \(error); \(remedy)")
        }
    }

    /// Takes jobs over from where the work folder was in earlier runs. The records as they are then, and the places
    /// that could not be reached although there may be jobs.
    private func bring(
        _ records: [JobRecord], from works: [WorkPlace], to work: WorkFolder, of pipeline: Pipeline,
        _ journal: any Journal
    ) throws(JournalError) -> (records: [JobRecord], left: [WorkPlace]) {
        var (records, left) = (records, [WorkPlace]())
        // A job that the journal does not know yet may be there.
        for place in works where place.path != work.path {
            let told: String
            let isStale = works.prefix { $0 != place }.contains { $0.path == work.path }
            func move() throws(JournalError) {
                let moved = records.map { $0.moved(from: place.path, to: work.path) }
                if moved != records { try journal.write(moved, pipelines: []) }
                records = moved
            }
            if let silent = silence(at: [place.path]) {
                left.append(place)
                if !records.isEmpty {
                    reportMoved(
                        place, to: work, of: pipeline, "its jobs are not taken over: '\(silent.text)' does not answer")
                }
                continue
            }
            let known = Set(records.map(\.folder))
            switch MovedWork(to: work, of: pipeline.name).takeOver(
                from: place.path, isStale: isStale, known: known)
            {
            case .taken(let count, let aside):
                // An interrupted start may have moved them here without recording it.
                try move()
                guard count > 0 else { continue }
                told =
                    "\(count == 1 ? "1 job was" : "\(count) jobs were") taken over from there"
                    + aside.map { "; an earlier state of one of them is kept in '\($0.text)'" }.joined()
            case .left(let reason):
                if place.isGone(beside: pipeline.inbox) {
                    // Its jobs are as any whose folders are gone from here: lost, or over but for the journal.
                    try move()
                    continue
                }
                left.append(place)
                guard !records.isEmpty else { continue }
                told = "its jobs are not taken over: \(reason)"
            }
            reportMoved(place, to: work, of: pipeline, told)
        }
        return (records, left)
    }

    private func reportMoved(_ place: WorkPlace, to work: WorkFolder, of pipeline: Pipeline, _ told: String) {
        observer(
            .warning(
                pipeline: pipeline.name,
                message: "the work folder has moved from '\(place.path.text)' to '\(work.path.text)'; \(told)"))
    }

    /// The most unreachable earlier places of a work folder that are remembered.
    private static let mostPlaces = 8

    /// Reports jobs whose files are unavailable.
    private func reportStranded(_ jobs: [JobID], of pipeline: Pipeline, at places: [WorkPlace]) {
        guard let first = jobs.first else { return }
        let count = jobs.count == 1 ? "1 job stays as it is" : "\(jobs.count) jobs stay as they are"
        let paths = places.map(\.path.text)
        let folders = paths.enumerated().filter { !paths[..<$0.offset].contains($0.element) }
            .map { "'\($0.element)'" }.joined(separator: " or ")
        observer(
            .warning(
                pipeline: pipeline.name,
                message: "\(count): the files are not in the work folder; they were in \(folders). "
                    + "Mount that file system, or restore `inbox` and `work`, and start Dropmill again; "
                    + "`dropmill forget JOB` (\(first)) abandons one"))
    }

    /// A folder may have outlived its job: its removal failed, or a kill came first. Or it was unavailable, and its job
    /// was declared lost or given up.
    static func complete(
        _ unfinished: [JobRecord], of pipeline: Pipeline, with names: [JobID], _ journal: any Journal
    ) throws(JournalError) -> (records: [JobRecord], folders: Recovery.Folders) {
        let known = Set(unfinished.map(\.folder))
        var found = FolderRecords()
        for name in names where !known.contains(name) {
            let first = try journal.job(name)
            var query = JobQuery()
            (query.slot, query.limit) = (name, 1)
            let others = try journal.jobs(query)
            if first != nil || !others.isEmpty { found.used.insert(name) }
            (query.states, query.limit) = ([.lost], nil)
            let lost = try journal.jobs(query).first
            if let record = lost ?? first, record.state == .lost { found.lost[name] = record }
        }
        return complete(unfinished, of: pipeline, found)
    }

    static func complete(
        _ unfinished: [JobRecord], of pipeline: Pipeline, _ found: FolderRecords
    ) -> (records: [JobRecord], folders: Recovery.Folders) {
        var records = unfinished
        var folders = Recovery.Folders()
        folders.used = found.used
        for (name, record) in found.lost where record.folder == name {
            if record.isGivenUp {
                folders.givenUp[name] = record
            } else if record.pipeline == pipeline.name {
                records.append(record.foundAgain)
            }
        }
        return (records, folders)
    }

    /// The machine's boot (random/boot_id of proc(5)); an unknown one counts as a new boot.
    private static func boot() -> String {
        let text = ProcessFiles.text("/proc/sys/kernel/random/boot_id")
        return text.map { String($0.prefix { !$0.isNewline }) } ?? "unknown since \(Timestamp.now().iso8601)"
    }
}
