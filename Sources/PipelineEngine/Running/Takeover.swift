import Files
import Journal
import PipelineKit
import SystemPackage

/// Takes over what processes have left that share the journal and are not alive any more. It looks at what is, every
/// two seconds and when it hears of other nodes, and not only at the moment of a death: another one may have died of
/// the same.
actor Takeover: QueueActor {
    nonisolated let executor = QueueExecutor(label: "dropmill.takeover")
    nonisolated var unownedExecutor: UnownedSerialExecutor { executor.asUnownedSerialExecutor() }

    private let journal: any SharedJournal
    private let writer: JournalWriter
    private unowned let engine: Engine
    private let interval: Duration
    /// Jobs that are on their way: of those that have a row it is this node's.
    private var coming: [JobID: Coming] = [:]
    /// Jobs that are this node's and stay as they are.
    private var leftAlone: Set<JobID> = []
    /// When each dead process was first seen, and each that the journal knows nothing of.
    private var seen: [String: MonotonicTime] = [:]
    /// How many jobs each dead one has left.
    private var left: [String: Int] = [:]
    /// Jobs in dead nodes' folders that other nodes hold, and when the journal last said so.
    private var held: [JobID: MonotonicTime] = [:]
    /// When it was first seen that a folder has nothing of a drop.
    private var remains: [JobID: MonotonicTime] = [:]
    /// Jobs that are this node's by the journal and that the last look did not know.
    private var unknown: Set<JobID> = []
    private var lastAudit = MonotonicTime.now()
    private var comparison = NodeComparison()
    private var lastComparison: MonotonicTime?
    private var isStopped = false
    /// Whether the last look brought something.
    private var hasTaken = false
    /// When the first lease of another node is over, as the last look saw it.
    private var firstEnd: MonotonicTime?

    private struct Coming {
        let pipeline: String
        /// Nil of a claim that has no row: its drop is here.
        var record: JobRecord?
        /// What is on record of the folder of one without a row.
        let found: FolderRecords
        var since: MonotonicTime
        /// How often it could not be gone on with here, and when that was last: of looks in a row one counts.
        private(set) var failures = 0
        private var failed: MonotonicTime?

        init(
            pipeline: String, record: JobRecord? = nil, found: FolderRecords = FolderRecords(), since: MonotonicTime
        ) {
            (self.pipeline, self.record, self.found, self.since) = (pipeline, record, found, since)
        }

        mutating func fail(at now: MonotonicTime) {
            if let failed, now - failed < Takeover.interval / 2 { return }
            failed = now
            failures += 1
        }
    }

    /// How often it looks, on average.
    static let interval = Duration.seconds(2)
    /// How long it is at least from one look to the next.
    private static let breath = Duration.milliseconds(200)
    /// How long nodes that have the same definition are left alone with a dead one's jobs.
    private static let precedence = Duration.seconds(10)
    /// How long a file system may take to show what is on it, and a process to find out that the journal, which was
    /// restored, knows nothing of it.
    private static let patience = Duration.seconds(60)
    /// How often the journal is asked which jobs are this node's.
    private static let auditing = Duration.seconds(30)
    /// How many jobs are taken at least, where there are so many.
    private static let least = 8
    /// How many are gone on with at once.
    private static let batch = 64
    /// How many looks for more there are at most in a turn.
    private static let looks = 5
    /// After how many attempts a job is left alone that cannot be gone on with.
    private static let attempts = 5

    init(_ journal: any SharedJournal, _ writer: JournalWriter, for engine: Engine, every interval: Duration) {
        (self.journal, self.writer, self.interval) = (journal, writer, interval)
        self.engine = engine
    }

    nonisolated func start() { enqueue { $0.turn() } }

    /// `done` is called when nothing is under way.
    nonisolated func stop(done: @escaping @Sendable () -> Void = {}) {
        enqueue {
            $0.isStopped = true
            done()
        }
    }

    func turn() {
        guard !isStopped else { return }
        guard !journal.isLost else { return engine.expel() }
        look()
        enqueue(after: pause(at: .now())) { $0.turn() }
    }

    /// How long it is until the next look: soon where there is more to be taken, and just after the first lease of
    /// another node that is not renewed.
    private func pause(at now: MonotonicTime) -> Duration {
        let usual = interval * Double.random(in: 0.75...1.25)
        if hasTaken { return min(usual, Self.breath) }
        let end = firstEnd.map { $0 - now + Self.breath * Double.random(in: 0.25...1) } ?? usual
        return end > .zero ? min(usual, end) : usual
    }

    /// Looks once, when it is time or somebody says that there is something to see.
    func look() {
        (hasTaken, firstEnd) = (false, nil)
        guard !isStopped, journal.mayAct else { return }
        do throws(JournalError) {
            let dead = try journal.markDead()
            let places = engine.sync { $0.runners.map { ($0.intake.spool, $0.mayBegin) } }
            try giveUp(but: Set(places.map(\.0.pipeline.name)))
            for (spool, mayBegin) in places where spool.work.isInPlace {
                try take(for: spool, from: mayBegin ? dead : [], adopting: mayBegin)
            }
            let others = Set(dead.map(\.incarnation))
            left = left.filter { others.contains($0.key) }
            seen = seen.filter { others.contains($0.key) || $0.value > .now() - Self.patience }
            if MonotonicTime.now() - lastAudit >= Self.auditing { try audit() }
            let isDue = lastComparison.map { MonotonicTime.now() - $0 >= Self.auditing } ?? true
            if isDue { try compare(places.map(\.0)) }
        } catch {
            // Whoever writes tells of it.
        }
    }

    /// What was coming to pipelines that were removed.
    private func giveUp(but loaded: Set<String>) throws(JournalError) {
        let left = coming.filter { !loaded.contains($0.value.pipeline) }
        guard !left.isEmpty else { return }
        try journal.release(left.filter { $0.value.record != nil }.map(\.key).sorted())
        for id in left.keys { coming[id] = nil }
    }

    /// Warns of what should be the same on all nodes.
    private func compare(_ spools: [Spool]) throws(JournalError) {
        lastComparison = .now()
        if let warning = comparison.warning(ofClock: try journal.clockOffset()) { engine.warn(of: nil, warning) }
        let alive = Set(try journal.nodes().filter(\.isAlive).map(\.name)).subtracting([journal.node])
        let own = Dictionary(spools.map { ($0.pipeline.name, $0.pipeline.definition) }) { first, _ in first }
        let others = try journal.standings().filter { alive.contains($0.key) }
        for (pipeline, message) in comparison.warnings(own: own, others: others) { engine.warn(of: pipeline, message) }
    }

    // MARK: Taking

    /// `dead`: those whose rows are taken. `adopting`: whether claims without rows are, too.
    private func take(for spool: Spool, from dead: [NodeRecord], adopting: Bool) throws(JournalError) {
        guard let folders = NodeFolders(beside: spool.work) else { return }
        let others: [String]
        do throws(IOError) { others = try folders.others() } catch { return }
        // After the look: a process is on record before it has a folder.
        let now = MonotonicTime.now()
        let gone = try gone(among: others, at: now)
        try takeRows(of: spool.pipeline, from: dead, of: gone.nodes, at: now)
        // There may be thousands for jobs to come, of which nobody is to be asked.
        for other in gone.names { folders.removeEmpty(of: other) }
        var holders = folders.holders(among: others)
        if adopting { try adopt(for: spool, from: Set(gone.names), holders, folders, at: now) }
        // Again as long as something comes: others may be at it, too.
        for _ in 0...Self.looks {
            guard journal.mayAct, gather(for: spool, holders, gone.names, folders) else { break }
            holders = folders.holders(among: others)
        }
        let own = coming.filter { $0.value.pipeline == spool.pipeline.name }.sorted { $0.key < $1.key }
        for start in stride(from: 0, to: own.count, by: Self.batch) {
            guard journal.mayAct else { return }
            let some = own[start...].prefix(Self.batch)
            let jobs = some.compactMap { arrived($0.key, $0.value, spool, folders, at: now) }
            if !jobs.isEmpty { try goOn(with: jobs, in: spool.work) }
        }
        guard journal.mayAct else { return }
        for other in gone.names where folders.isDone(other) {
            // Before its notes go.
            let found = Quarantine.counts(in: folders.looks(of: other), isDead: true)
            if !found.isEmpty { engine.suspect(found, of: other, in: spool.work) }
            folders.remove(other)
        }
    }

    /// Which of them are not alive, and how many nodes are. Where the journal knows nothing of one, that may not know
    /// it yet: the journal was restored.
    private func gone(
        among others: [String], at now: MonotonicTime
    ) throws(JournalError) -> (names: [String], nodes: Int) {
        let nodes = try journal.nodes()
        let leases = nodes.filter { $0.holdsLease && $0.incarnation != journal.incarnationID }.map(\.lease)
        firstEnd = leases.min().map { .now() + $0 }
        engine.livingNodes.note(nodes.filter(\.isAlive).map(\.incarnation), own: journal.incarnationID)
        let known = Dictionary(nodes.map { ($0.incarnation, $0.isDead) }) { first, _ in first }
        let names = others.filter { other in
            if let isDead = known[other] { return isDead }
            let since = seen[other] ?? now
            seen[other] = since
            return now - since >= Self.patience
        }
        return (names, nodes.count { !$0.isDead })
    }

    /// Those of the same definition first; others once nodes that have theirs have had their time. Each node takes its
    /// share, also where it has as much at work as it may, though no more than that once more, and nothing while there
    /// is something that it cannot go on with.
    func takeRows(
        of pipeline: Pipeline, from dead: [NodeRecord], of nodes: Int, at now: MonotonicTime
    ) throws(JournalError) {
        let own = coming.values.filter { $0.pipeline == pipeline.name }
        guard !own.contains(where: { now - $0.since >= Self.precedence }) else { return }
        let atWork = engine.sync { engine in
            engine.all.reduce(0) { $0 + ($1.pipeline.name == pipeline.name ? $1.jobs.count : 0) }
        }
        var room = 2 * pipeline.activeJobs - atWork - own.count
        for node in dead where node.jobs > 0 && room > 0 {
            // A share of all that there were: of what is left at each turn the last would be taken late.
            let jobs = max(left[node.incarnation] ?? 0, node.jobs)
            left[node.incarnation] = jobs
            let share = min(room, max((jobs + nodes - 1) / max(nodes, 1), Self.least))
            let since = seen[node.incarnation] ?? now
            seen[node.incarnation] = since
            var taken = try journal.takeOver(
                from: node.incarnation, of: [pipeline.name], with: [pipeline.definition], limit: share)
            if taken.isEmpty, now - since >= Self.precedence {
                taken = try journal.takeOver(
                    from: node.incarnation, of: [pipeline.name], with: nil, limit: share)
            }
            room -= taken.count
            if !taken.isEmpty { hasTaken = true }
            for job in taken {
                var record = job.record
                record.history.append(Transition("taken over", at: .now(), note: "from '\(node.name)'"))
                coming[record.id] = Coming(pipeline: pipeline.name, record: record, since: now)
            }
        }
    }

    /// Finds claims that have no row: whoever has the drop has the job.
    private func adopt(
        for spool: Spool, from gone: Set<String>, _ holders: [JobID: [String]], _ folders: NodeFolders,
        at now: MonotonicTime
    ) throws(JournalError) {
        var left: [JobID: MonotonicTime] = [:]
        let ways = Set(coming.map { $0.value.record?.folder ?? $0.key })
        held = held.filter { now - $0.value < Self.precedence }
        let strange = holders.filter { id, others in
            !ways.contains(id) && held[id] == nil && coming[id] == nil && others.contains(where: gone.contains)
        }
        let known = try journal.records(of: strange.keys.sorted())
        for (id, others) in strange {
            guard let other = others.first(where: gone.contains) else { continue }
            // Who has it fetches the rest of it, too, or whoever takes it over from that one.
            if known.held.contains(id) {
                held[id] = now
                continue
            }
            do throws(IOError) {
                if try folders.holder(of: id, among: others.filter(gone.contains)) != nil {
                    // Before anything is moved: it is in no dead one's folder then.
                    coming[id] = Coming(pipeline: spool.pipeline.name, found: known.only(id), since: now)
                    hasTaken = true
                    continue
                }
                left[id] = remains[id] ?? now
                guard now - left[id, default: now] >= Self.patience, others.count == 1, journal.mayAct,
                    try !folders.hasDrop(id)
                else { continue }
                try folders.removeRest(of: id, at: other)
            } catch {
                continue
            }
        }
        remains = left
    }

    /// Brings what there is of jobs here. Returns whether anything came.
    private func gather(
        for spool: Spool, _ holders: [JobID: [String]], _ gone: [String], _ folders: NodeFolders
    ) -> Bool {
        var hasCome = false
        for (id, job) in coming where job.pipeline == spool.pipeline.name {
            let folder = job.record?.folder ?? id
            // Of a claim without a row only what dead ones have: whoever else has it was quicker.
            guard let others = holders[folder]?.filter({ job.record != nil || gone.contains($0) }), !others.isEmpty,
                journal.mayAct
            else { continue }
            do throws(IOError) {
                let isSettling = job.record?.state == .settling
                let comes =
                    isSettling
                    ? try folders.gatherRest(folder, from: others) : try folders.gather(folder, from: others)
                hasCome = comes || hasCome
            } catch {
                // It is looked for again.
                continue
            }
        }
        return hasCome
    }

    /// A job of which all is here that there is, and what is to be done with it.
    private struct Arrived {
        let id: JobID
        let record: JobRecord?
        let findings: Recovery.Findings

        /// What is to be on record before it goes on: also where its folder is now.
        var changed: [JobRecord] { findings.changed.isEmpty ? [record].compactMap(\.self) : findings.changed }
    }

    /// Looks whether what there is of a job is here.
    private func arrived(
        _ id: JobID, _ job: Coming, _ spool: Spool, _ folders: NodeFolders, at now: MonotonicTime
    ) -> Arrived? {
        let recovery = Recovery(
            of: spool.pipeline, in: spool.work,
            lastRun: RunRecord(boot: "", process: 0, startedAt: .now()), boot: "-")
        let record = job.record.map(folders.rebased)
        let folder = record?.folder ?? id
        do throws(IOError) {
            let isSettling = record?.state == .settling
            let isHere: Bool
            if let record, isSettling, !record.intents.isEmpty {
                isHere = recovery.isComplete(record)
            } else {
                isHere = try folders.hasDrop(folder)
            }
            if !isHere {
                // What is nowhere to be seen may not be seen yet; of a claim without a row another one has it.
                guard record != nil else {
                    coming[id] = nil
                    return nil
                }
                guard now - job.since >= Self.patience else { return nil }
                // As where it died on this host: an empty folder of a settlement means that all was moved.
                if isSettling { try folders.makeFolder(folder) }
            }
            let known = Engine.complete([record].compactMap(\.self), of: spool.pipeline, job.found)
            let findings = try recovery.reconcile(known.records, known.folders, in: [folder])
            guard findings.parked == 0 || job.failures >= Self.attempts else {
                // Something of it may still be written, or a look have failed.
                coming[id]?.fail(at: now)
                return nil
            }
            return Arrived(id: id, record: record, findings: findings)
        } catch {
            coming[id]?.fail(at: now)
            return nil
        }
    }

    /// Goes on with jobs that are here: a commit for each would take as long as all that the others do meanwhile.
    private func goOn(with jobs: [Arrived], in work: WorkFolder) throws(JournalError) {
        let fenced = try writer.commit(jobs.flatMap(\.changed))
        for job in jobs {
            var findings = job.findings
            findings.resumed.removeAll { fenced.contains($0.record.id) }
            coming[job.id] = nil
            if job.record != nil, findings.parked > 0 { leftAlone.insert(job.id) }
            engine.takeIn(findings, in: work)
        }
    }

    // MARK: Auditing

    /// Gives up jobs that are this node's by the journal but that nobody here knows: the answer to their taking over
    /// was lost.
    func audit() throws(JournalError) {
        lastAudit = .now()
        let own = Set(try journal.unfinished().map(\.id))
        let known = engine.sync { engine in
            engine.all.reduce(into: Set<JobID>()) { $0.formUnion($1.jobs.keys) }
        }
        let strange = own.subtracting(known).subtracting(coming.keys).subtracting(leftAlone)
        let twice = strange.intersection(unknown)
        unknown = strange.subtracting(twice)
        leftAlone.formIntersection(own)
        try journal.release(twice.sorted())
    }
}
