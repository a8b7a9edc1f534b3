@preconcurrency import Dispatch
import Journal
import PipelineKit
import Synchronization
import SystemPackage

/// One batch of settlements on its way: each step is made for every job before the next begins. A job that fails at a
/// step does not hold up the others.
struct SettlementBatch {
    /// One job on its way.
    private struct Step {
        var settlement: Settlement
        var placements: [Placement] = []
        /// The moves of each placement.
        var moves: [[Intent]] = []
        /// Those of them that are made.
        var made: [Intent] = []
        /// Whether an earlier attempt may have made some of them.
        var isReplay = false
        var unsynced = DiskSync.Unsynced()
        /// What there is to be said in the job's history.
        var notes: [String] = []
        var failure: StageFailure?
        var hasLostOutputs = false

        var result: Settlement.Result {
            guard let failure else { return .settled }
            return hasLostOutputs ? .outputsLost(failure) : .failed(failure)
        }
    }

    private let spool: Spool
    private let journal: JournalWriter
    private let names: NameChooser
    /// The paths that were chosen for this batch.
    private var reserved: [FilePath] = []
    private var steps: [Step]
    /// The folders that things go into, as far as they were opened.
    private var open: OpenFolders
    private var effects = SettlementEffects()
    /// Folders that were looked at in this batch and are in nobody's way: one look for all that goes there.
    private var cleared: Set<FilePath> = []
    /// Whether the work folder could be reached when the batch began.
    private var isWorkInPlace = true
    /// What there is to be said that changes no outcome: sentences.
    private(set) var warnings: [String] = []

    init(_ settlements: [Settlement], spool: Spool, journal: JournalWriter, names: NameChooser) {
        self.spool = spool
        self.journal = journal
        self.names = names
        open = spool.openFolders
        steps = settlements.map { Step(settlement: $0) }
    }

    var outcomes: [Settler.Outcome] { steps.map { ($0.settlement, $0.result) } }

    /// Decides what goes where and makes what goes beside it.
    mutating func prepare() {
        isWorkInPlace = spool.work.isInPlace
        forEach { (batch, index) throws(StageFailure) in try batch.prepare(index) }
    }

    /// Does what was decided.
    mutating func settle() {
        syncOutputs()
        commitIntents(steps.indices.filter { !steps[$0].isReplay })

        move(where: { $0.role == .output })
        move(where: { $0.role == .original })
        removeCopied()

        commitEnds()
        for step in steps where step.failure == nil { removeFolder(of: step) }
        names.release(reserved)
    }

    private mutating func removeFolder(of step: Step) {
        let (job, record) = (step.settlement.job, step.settlement.record)
        let isKept = record.isKept(in: spool.work)
        do throws(IOError) {
            let aside = try spool.work.removeFolder(
                of: job.id, drop: job.drop.name, remains: record.leavesDrop(in: spool.pipeline) && !isKept)
            if let aside, !isKept { warnings.append(Spool.strayWarning(of: job.drop.name, aside)) }
        } catch {
            // The journal says that the job is over, and so the next start does it, or tells why it cannot be done.
        }
    }

    // MARK: Deciding

    /// Decides what goes where, or takes over what an earlier attempt decided.
    private mutating func prepare(_ index: Int) throws(StageFailure) {
        let settlement = steps[index].settlement
        guard isWorkInPlace else { throw .workAway(spool) }
        steps[index].placements = try settlement.placements(for: spool.pipeline)
        if !settlement.record.intents.isEmpty {
            steps[index].isReplay = true
            steps[index].moves = Self.moves(of: settlement.record.intents)
            // They were given away by an earlier batch, perhaps of an earlier run.
            reserved += names.reserveAgain(settlement.record.intents.map(\.target))
        } else {
            try renewDrop(index)
            try secure(steps[index].settlement)
            for (number, placement) in steps[index].placements.enumerated() { try intend(placement, number, index) }
        }
        let job = settlement.job
        if let strange = steps[index].moves.joined().first(where: { !spool.bounds.allow($0, of: job) }) {
            throw .outside(strange, of: job)
        }
    }

    /// What fails goes back to its sender; what succeeds has to be what the stages looked at.
    private mutating func secure(_ settlement: Settlement) throws(StageFailure) {
        switch settlement.outcome {
        case .failed: try giveBack(settlement.job)
        case .processed: try check(settlement)
        }
    }

    /// As far as it can be given: from the first attempt on it may be his, closed or leased, and goes to `failed` as it
    /// is.
    private mutating func giveBack(_ job: Job) throws(StageFailure) {
        if spool.failsElsewhere { return }
        do throws(IOError) {
            try spool.giveBack(job)
        } catch {
            guard error.errno.trouble(with: .drop) != .pauses else { throw .settling(error) }
            warnings.append("'\(job.drop.name)' was not given back to its sender as a whole: \(error)")
        }
    }

    private func check(_ settlement: Settlement) throws(StageFailure) {
        let changed: FilePath?
        do throws(IOError) {
            changed = try settlement.seal?.broken(by: settlement.job)
        } catch {
            guard error.isSendersDoing else { throw .settling(error) }
            changed = error.path
        }
        if let changed { throw .changed(changed, of: settlement.job) }
    }

    private mutating func renewDrop(_ index: Int) throws(StageFailure) {
        let settlement = steps[index].settlement
        guard settlement.record.mustRenewDrop else { return }
        do throws(IOError) {
            try spool.renewDrop(of: settlement.job, &steps[index].settlement.seal)
        } catch {
            // What cannot be read is not renewed: it fails, or does so already.
            let isUnreadable = ["open", "list", "copy"].contains(error.action) && error.errno != .ioError
            guard isUnreadable, error.errno.trouble(with: .drop) != .pauses else { throw .settling(error) }
            if case .processed = settlement.outcome { throw StageFailure(inStage: error) }
        }
    }

    private mutating func intend(_ placement: Placement, _ number: Int, _ index: Int) throws(StageFailure) {
        let job = steps[index].settlement.job
        // What is not found in a folder that is away is not gone, and no folder is to be made in its place.
        if placement.source == nil, !spool.work.isInPlace { throw .workAway(spool) }
        let decided: Spool.Decision?
        let placement = try unreserved(placement, number, index)
        do throws(IOError) {
            decided = try spool.intend(placement, number: number, of: job, names, &open, reserved: &reserved)
        } catch {
            throw .settling(error)
        }
        guard let decided else {
            throw spool.work.isInPlace ? .missing(placement.source ?? job.original, of: job) : .workAway(spool)
        }
        steps[index].moves.append(decided.intents)
        steps[index].unsynced.files += decided.unsynced.files
        if decided.unsynced.needsWhole { steps[index].unsynced.needsWhole = true }
        steps[index].notes += decided.note.map { [$0] } ?? []
    }

    /// Refuses what would go into a reserved folder, or replace one. A failed original must find a place all the same.
    private mutating func unreserved(
        _ placement: Placement, _ number: Int, _ index: Int
    ) throws(StageFailure) -> Placement {
        let isCertain = placement.role == .output && placement.onConflict != .replace
        if isCertain, cleared.contains(placement.folder) { return placement }
        let found: ReservedFolders.Reserved?
        do throws(IOError) {
            found = try spool.reservedFolder(for: placement, &open)
        } catch {
            throw .settling(error)
        }
        guard let found else {
            if isCertain { cleared.insert(placement.folder) }
            return placement
        }
        guard placement.isFailure else { throw .reserved(placement.folder.appending(placement.name), found) }
        var other = placement
        (other.subfolders, other.onConflict) = ([], .rename)
        steps[index].placements[number] = other
        return other
    }

    /// Companions belong to what follows them.
    private static func moves(of intents: [Intent]) -> [[Intent]] {
        var moves: [[Intent]] = []
        var open: [Intent] = []
        for intent in intents {
            open.append(intent)
            if intent.role != .companion {
                moves.append(open)
                open = []
            }
        }
        return open.isEmpty ? moves : moves + [open]
    }

    // MARK: Writing down

    private mutating func commitIntents(_ indices: [Int]) {
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

    private mutating func commitEnds() {
        let (now, work) = (Timestamp.now(), spool.work)
        commit(Array(steps.indices)) { record, step in
            let took = step.settlement.begun.map { MonotonicTime.now() - $0 }
            record.end(step.settlement.outcome, intents: step.moves.flatMap { $0 }, at: now, took: took)
            if let kept = Self.kept(step, in: work) { record.original = kept }
        }
    }

    /// Where the original of a failed job will be, which no intent brings to `failed`.
    private static func kept(_ step: Step, in work: WorkFolder) -> FilePath? {
        let job = step.settlement.job
        guard case .failed = step.settlement.outcome, !step.moves.joined().contains(where: { $0.role == .original }),
            FileIdentity.of(job.original) != nil
        else { return nil }
        return work.keptPath(of: job.drop.name, of: job.id)
    }

    /// Brings changed records of these jobs to the journal and waits for it. Where that fails the records stay as they
    /// were: what is not written down was not decided.
    private mutating func commit(_ indices: [Int], _ change: (inout JobRecord, Step) -> Void) {
        let good = indices.filter { steps[$0].failure == nil }
        guard !good.isEmpty else { return }
        let records = good.map { index in
            var record = steps[index].settlement.record
            change(&record, steps[index])
            return record
        }
        let outcome = Mutex<Result<Void, JournalError>>(.success(()))
        let done = DispatchSemaphore(value: 0)
        journal.commit(records) { @Sendable result in
            outcome.withLock { $0 = result }
            done.signal()
        }
        done.wait()
        for (index, record) in zip(good, records) {
            switch outcome.withLock({ $0 }) {
            case .success: steps[index].settlement.record = record
            case .failure(let error): steps[index].failure = StageFailure(error)
            }
        }
    }

    // MARK: Moving

    /// Makes the moves of all placements of a role, then brings the folders to the disk.
    private mutating func move(where isWanted: (Placement) -> Bool) {
        for index in steps.indices where steps[index].failure == nil {
            for (number, placement) in steps[index].placements.enumerated() where isWanted(placement) {
                do throws(StageFailure) {
                    try move(placement, number, index)
                } catch {
                    steps[index].failure = error
                    if error.class == .file { takeBack(index) }
                    break
                }
            }
        }
        do throws(IOError) {
            try spool.diskSync.sync(folders: effects.folders, by: spool.work.whole)
            if spool.diskSync.isFull { spool.made.forget(effects.made) }
            (effects.folders, effects.made) = ([], [])
        } catch {
            for index in steps.indices where steps[index].failure == nil { steps[index].failure = .unsettled(error) }
        }
    }

    /// What was copied goes when all of its job is in its place: until then the copies can be taken back. From here on
    /// a job is published, and what goes wrong is no failure of its drop.
    private mutating func removeCopied() {
        for index in steps.indices where steps[index].failure == nil {
            do throws(IOError) {
                for intent in steps[index].moves.joined() where effects.copied.contains(intent.source) {
                    try spool.removeCopied(intent.source)
                }
            } catch {
                steps[index].failure = .unsettled(error)
            }
        }
    }

    private mutating func move(_ placement: Placement, _ number: Int, _ index: Int) throws(StageFailure) {
        guard number < steps[index].moves.count else { return }
        let job = steps[index].settlement.job
        do throws(IOError) {
            while true {
                let moves = steps[index].moves[number]
                if let folder = moves.last?.target.removingLastComponent() {
                    try spool.makeFolder(folder, for: placement.role, &open, &effects)
                }
                let isReplay = steps[index].isReplay
                let made = try spool.carryOut(
                    moves, of: job, isReplay: isReplay, isFailure: placement.isFailure, &open, &effects)
                if let made {
                    steps[index].made += made
                    break
                }
                try chooseAgain(steps[index].placements[number], number, index)
            }
        } catch {
            guard error.isOfReading(job) || error.isOfMoving(placement.source, of: job) else { throw .settling(error) }
            guard placement.isFailure else { throw .ofDrop(error) }
            try leave(number, index, because: error)
            try move(steps[index].placements[number], number, index)
        }
    }

    /// The original of a failed job cannot be brought to `failed`, and nobody else is to wait for that. It stays in its
    /// folder, which is set aside once the job is over, and its report says where.
    private mutating func leave(_ number: Int, _ index: Int, because error: IOError) throws(StageFailure) {
        let job = steps[index].settlement.job
        let kept = spool.work.keptPath(of: job.drop.name, of: job.id)
        warnings.append("'\(job.drop.name)' failed and is kept in '\(kept.text)': \(error)")
        steps[index].settlement.leaveOriginal(at: kept, because: error)
        names.release(steps[index].moves[number].map(\.target))
        steps[index].placements = try steps[index].settlement.placements(for: spool.pipeline)
        do throws(IOError) {
            try chooseAgain(steps[index].placements[number], number, index)
        } catch {
            throw .settling(error)
        }
    }

    /// The job is going to fail, so nothing of it may stay published. Where that does not work now, the settlement is
    /// tried again, and comes here again.
    private mutating func takeBack(_ index: Int) {
        do throws(IOError) {
            try spool.takeBack(steps[index].made, of: steps[index].settlement.job, &open, &effects)
            steps[index].made = []
        } catch {
            steps[index].failure = .unsettled(error)
        }
    }

    /// Somebody else took the name since it was chosen: another one, written down before it is used.
    private mutating func chooseAgain(_ placement: Placement, _ number: Int, _ index: Int) throws(IOError) {
        let job = steps[index].settlement.job
        let decided = try spool.intend(placement, number: number, of: job, names, &open, reserved: &reserved)
        guard let decided else {
            throw IOError("publish", placement.source ?? placement.folder, .noSuchFileOrDirectory)
        }
        steps[index].moves[number] = decided.intents
        steps[index].notes += decided.note.map { [$0] } ?? []
        // The rest is on the disk since the first choice.
        let companions = decided.intents.filter { $0.role == .companion }.map(\.source)
        try spool.diskSync.sync(files: companions, by: spool.work.whole)
        commitIntents([index])
        if steps[index].failure != nil { throw IOError("write to the journal for", placement.folder, .ioError) }
    }

    // MARK: Syncing

    private mutating func syncOutputs() {
        let waiting = steps.indices.filter { steps[$0].failure == nil && !steps[$0].isReplay }
        let errors = spool.diskSync.sync(waiting.map { steps[$0].unsynced }, by: spool.work.whole)
        for (index, error) in zip(waiting, errors) {
            guard let error else { continue }
            steps[index].failure = StageFailure(error)
            // What could not even be opened for lack of descriptors is as it was.
            steps[index].hasLostOutputs = error.action == "sync"
        }
    }

    private mutating func forEach(_ body: (inout SettlementBatch, Int) throws(StageFailure) -> Void) {
        for index in steps.indices where steps[index].failure == nil {
            do throws(StageFailure) {
                try body(&self, index)
            } catch {
                steps[index].failure = error
            }
        }
    }
}
