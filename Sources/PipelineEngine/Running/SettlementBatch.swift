import Files
import Journal
import PipelineKit
import SystemPackage

/// One batch of settlements on its way: each step is made for every job before the next begins. A job that fails at a
/// step does not hold up the others.
struct SettlementBatch {
    struct Step {
        var settlement: Settlement
        var placements: [Placement] = []
        /// The moves of each placement.
        var moves: [[Intent]] = []
        var made: [Intent] = []
        /// What the original looks like; nil where an earlier attempt decided.
        var original: OriginalState?
        /// What was written to go beside it looks like, by its place in the job's folder; the newest counts.
        private var sides: [(source: FilePath, file: FileState)] = []
        /// The first placement whose moves are not made.
        var next = 0
        /// Whether an earlier attempt may have made some of them.
        var isReplay = false
        var unsynced = DiskSync.Unsynced()
        /// What there is to be said in the job's history.
        var notes: [String] = []
        /// Where its folder is, if that was set aside.
        var aside: FilePath?
        var failure: Failure?
        var hasLostOutputs = false
        /// Whether another node has it by now; `failure` says that, too.
        var isFenced = false

        init(settlement: Settlement) { self.settlement = settlement }

        /// Adds what was written to go beside the original.
        mutating func add(_ new: [(source: FilePath, file: FileState)]) {
            if sides.isEmpty { sides = new } else { sides += new }
        }

        /// Where the original of a failed job is, if no move brought it to `failed`.
        var keptOriginal: FilePath? {
            guard case .failed = settlement.outcome, !moves.joined().contains(where: { $0.role == .original }),
                let kept = aside?.appending(settlement.job.drop.name), FileIdentity.of(kept) != nil
            else { return nil }
            return kept
        }

        var outcome: Settler.Outcome {
            if isFenced { return (settlement, .fenced) }
            guard let failure else { return (settlement, .settled) }
            return (settlement, hasLostOutputs ? .outputsLost(failure) : .failed(failure))
        }

        /// Its record as that of a job that is over.
        ///
        /// `copied`: the sources of those moves that were made by copies.
        /// `made`: the folders that were made for originals.
        func ended(at now: Timestamp, copied: Set<FilePath>, made: Set<FilePath>) -> JobRecord {
            var record = settlement.record
            let took = settlement.begun.map { MonotonicTime.now() - $0 }
            record.end(settlement.outcome, intents: moves.flatMap { $0 }, at: now, took: took)
            if let kept = keptOriginal { record.original = kept }
            record.originalState = originalState(copied, made)
            return record
        }

        /// Nil where somebody may have changed it since.
        private func originalState(_ copied: Set<FilePath>, _ made: Set<FilePath>) -> OriginalState? {
            guard let moves = moves.last(where: { $0.contains { $0.role == .original } }),
                let move = moves.last(where: { $0.role == .original }),
                var state = state(of: move, wasCopied: copied.contains(move.source))
            else { return nil }
            for side in moves where side.role == .sidecar && side.target.isBeside(move.target) {
                guard let name = side.target.lastName,
                    let file = self.state(ofSide: side, wasCopied: copied.contains(side.source))
                else { continue }
                state.sides.append(OriginalState.Side(name, file))
            }
            guard !made.isEmpty else { return state }
            var folder = move.target.removingLastComponent()
            while made.contains(folder), let status = FileStatus.of(folder) {
                state.made.append(UInt64(status.st_ino))
                folder.removeLastComponent()
            }
            return state
        }

        /// A file was looked at before it was moved. What is in a folder is compared with the time of its move, which
        /// is not known of one that an earlier attempt may have moved.
        private func state(of move: Intent, wasCopied: Bool) -> OriginalState? {
            if let original, original.moved == nil, !wasCopied { return original }
            guard let status = FileStatus.of(move.target) else { return nil }
            let now = OriginalState(status)
            guard !isReplay || now.moved == nil else { return nil }
            guard wasCopied else { return isOurs(now.file, by: move) ? now : nil }
            let isSame = original.map { $0.file.size == now.file.size && $0.file.modified == now.file.modified }
            return now.moved != nil || isSame == true ? now : nil
        }

        private func state(ofSide side: Intent, wasCopied: Bool) -> FileState? {
            if !wasCopied, let known = sides.last(where: { $0.source == side.source }) { return known.file }
            guard let status = FileStatus.of(side.target) else { return nil }
            return wasCopied || isOurs(FileState(status), by: side) ? FileState(status) : nil
        }

        /// Whether it is what was to be moved, and was not changed since that was decided.
        private func isOurs(_ now: FileState, by move: Intent) -> Bool {
            guard now.inode == move.identity.inode else { return false }
            guard isReplay else { return true }
            let decided = settlement.record.history.last { $0.event == "settling" }?.at
            return decided.map { Timestamp(now.modified) < $0 } ?? false
        }

        /// The outcome once that record was written, or was not: then the old one stands.
        func outcome(_ written: Result<Set<JobID>, JournalError>, with record: JobRecord) -> Settler.Outcome {
            switch written {
            case .success(let fenced) where fenced.contains(record.id): return (settlement, .fenced)
            case .success:
                var settlement = settlement
                settlement.record = record
                return (settlement, .settled)
            case .failure(let error): return (settlement, .failed(Failure(error)))
            }
        }
    }

    let spool: Spool
    let progress = SettlementProgress()
    private let journal: JournalWriter
    let names: NameChooser
    /// The paths that were chosen for this batch.
    var reserved: [FilePath] = []
    var steps: [Step]
    var mover: Mover
    /// Folders that were looked at in this batch and are in nobody's way: one look for all that goes there.
    var cleared: Set<FilePath> = []
    /// Whether a move has failed.
    var hasFailedMove = false
    /// Whether the work folder could be reached when the batch began.
    var isWorkInPlace = true
    /// What there is to be said that changes no outcome: sentences.
    var warnings: [String] = []

    init(_ settlements: [Settlement], spool: Spool, journal: JournalWriter, names: NameChooser) {
        self.spool = spool
        self.journal = journal
        self.names = names
        mover = Mover(with: spool, progress)
        steps = settlements.map { Step(settlement: $0) }
    }

    /// Decides what goes where and makes what goes beside it.
    mutating func prepare() {
        isWorkInPlace = spool.work.isInPlace
        for index in steps.indices {
            progress.begin(steps[index].settlement.job)
            do throws(Failure) {
                try prepare(index)
            } catch {
                steps[index].failure = error
            }
        }
    }

    /// Brings what was decided to the disk and into the journal, then does it. `areOutputsSynced`: whether a sync of
    /// the whole file system came after `prepare`.
    mutating func execute(areOutputsSynced: Bool = false) {
        if !areOutputsSynced { syncOutputs() }
        progress.move()
        commitIntents(steps.indices.filter { !steps[$0].isReplay })
        move()
        addLines()
        emptyFolders(where: { !$0.leavesMore })
        if mayLeaveMore, steps.contains(where: { $0.failure == nil && leavings(of: $0).leavesMore }) {
            syncFolders()
            removeCopied()
            emptyFolders(where: { $0.leavesMore })
        }
    }

    /// Brings the ends to the journal, after `syncFolders`, without waiting for that. Then the folders are free, and
    /// `deliver` is told what came of it all, on the journal's queue.
    mutating func end(deliver: @escaping @Sendable ([Settler.Outcome]) -> Void) {
        names.release(reserved)
        forgetLines()
        let now = Timestamp.now()
        let ended = steps.map {
            $0.failure == nil ? $0.ended(at: now, copied: mover.copied, made: mover.madeForOriginals) : nil
        }
        guard ended.contains(where: { $0 != nil }) else { return deliver(steps.map(\.outcome)) }
        var records: [JobRecord] = []
        records.reserveCapacity(ended.count)
        for case let record? in ended { records.append(record) }
        journal.commit(records) { @Sendable [steps, work = spool.work] result in
            deliver(
                zip(steps, ended).map { step, record in
                    guard let record else { return step.outcome }
                    let outcome = step.outcome(result, with: record)
                    if case .settled = outcome.result, step.aside == nil { work.free(step.settlement.job.folder) }
                    return outcome
                })
        }
    }

    // MARK: Writing down

    mutating func commitIntents(_ indices: [Int]) {
        let now = Timestamp.now()
        commit(indices) { record, step in
            record.state = .settling
            record.intents = step.moves.flatMap { $0 }
            if record.mustRenewDrop { record.history.append(Transition(JobRecord.renewed, at: now)) }
            record.history.append(Transition("settling", at: now))
            record.history += step.notes.map { Transition("renamed", at: now, note: $0) }
        }
        for index in indices { steps[index].notes = [] }
    }

    /// Brings changed records of these jobs to the journal and waits for it. Where that fails the records stay as they
    /// were: what is not written down was not decided. What is fenced goes no further.
    private mutating func commit(_ indices: [Int], _ change: (inout JobRecord, Step) -> Void) {
        let good = indices.filter { steps[$0].failure == nil }
        guard !good.isEmpty else { return }
        let records = good.map { index in
            var record = steps[index].settlement.record
            change(&record, steps[index])
            return record
        }
        do throws(JournalError) {
            let fenced = try journal.commitIntents(records)
            for (index, record) in zip(good, records) {
                steps[index].settlement.record = record
                if fenced.contains(record.id) { drop(index) }
            }
            requireLease(good)
        } catch {
            for index in good { steps[index].failure = Failure(error) }
        }
    }

    /// Moves nothing more once others may take these over.
    mutating func requireLease(_ indices: some Sequence<Int>) {
        guard !journal.mayAct else { return }
        for index in indices where steps[index].failure == nil { steps[index].failure = .journalAway }
    }

    /// Nothing of it is touched any more.
    private mutating func drop(_ index: Int) {
        steps[index].isFenced = true
        steps[index].failure = .cancelled
    }

    /// Asks whether a job is still this node's, before something of it is moved that no intent says.
    mutating func requireOwn(_ index: Int) throws(IOError) {
        do throws(JournalError) {
            if try journal.commit([steps[index].settlement.record]).isEmpty { return }
            drop(index)
        } catch {
            steps[index].failure = Failure(error)
        }
        throw IOError("write to the journal for", steps[index].settlement.job.folder, .ioError)
    }

    // MARK: Syncing

    mutating func syncOutputs() {
        let waiting = steps.indices.filter { steps[$0].failure == nil && !steps[$0].isReplay }
        let errors = spool.diskSync.sync(waiting.map { steps[$0].unsynced }, by: spool.work.whole)
        for (index, error) in zip(waiting, errors) {
            guard let error else { continue }
            steps[index].failure = Failure(error)
            // What could not even be opened for lack of descriptors is as it was.
            steps[index].hasLostOutputs = error.action == "sync"
        }
    }
}
