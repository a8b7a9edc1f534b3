import Files
import Journal
import PipelineKit
import SystemPackage

/// What goes where, and under which name.
extension SettlementBatch {
    /// Decides what goes where, or takes over what an earlier attempt decided.
    mutating func prepare(_ index: Int) throws(Failure) {
        let settlement = steps[index].settlement
        guard isWorkInPlace else { throw .workAway(spool) }
        if !settlement.record.intents.isEmpty {
            try replay(index)
        } else {
            steps[index].placements = try plan(settlement)
            try renewDrop(index)
            try secure(steps[index].settlement)
            for (number, placement) in steps[index].placements.enumerated() { try intend(placement, number, index) }
            // Its drop goes, and nothing else shows that it was there: its claim must be on the disk before.
            if steps[index].placements.isEmpty { steps[index].unsynced.needsWhole = true }
        }
        let job = settlement.job
        if let strange = steps[index].moves.joined().first(where: { !spool.bounds.allow($0, of: job) }) {
            throw .outside(strange, of: job)
        }
    }

    func plan(_ settlement: Settlement) throws(Failure) -> [Placement] {
        try SettlementPlan(settlement, finding: try settlement.look(), for: spool.pipeline).placements
    }

    /// Takes over what an earlier attempt decided, perhaps of an earlier run. The pipeline may be another one since:
    /// what it says now only serves where a name turns out to be taken.
    private mutating func replay(_ index: Int) throws(Failure) {
        let settlement = steps[index].settlement
        let planned: [Placement]
        do throws(Failure) {
            planned = try plan(settlement)
        } catch {
            guard error.class == .file else { throw error }
            planned = []
        }
        steps[index].isReplay = true
        steps[index].moves = Self.moves(of: settlement.record.intents)
        steps[index].placements = steps[index].moves.map { moves in
            Placement(replaying: moves, of: settlement, as: planned, onConflict: spool.pipeline.onConflict)
        }
        reserved += names.reserveAgain(settlement.record.intents.map(\.target))
    }

    /// What fails goes back to its sender; what succeeds has to be what the stages looked at.
    private mutating func secure(_ settlement: Settlement) throws(Failure) {
        switch settlement.outcome {
        case .failed: try giveBack(settlement.job)
        case .processed: try check(settlement)
        }
    }

    /// As far as it can be given: from the first attempt on it may be his, closed or leased, and goes to `failed` as it
    /// is.
    private mutating func giveBack(_ job: Job) throws(Failure) {
        if spool.failsElsewhere { return }
        do throws(IOError) {
            try spool.giveBack(job)
        } catch {
            guard error.errno.trouble(with: .drop) != .pauses else { throw .settling(error) }
            warnings.append("'\(job.drop.name)' was not given back to its sender completely: \(error)")
        }
    }

    private func check(_ settlement: Settlement) throws(Failure) {
        let changed: FilePath?
        do throws(IOError) {
            changed = try settlement.seal?.broken(by: settlement.job)
        } catch {
            guard error.isSendersDoing else { throw .settling(error) }
            changed = error.path
        }
        if let changed { throw .changed(changed, of: settlement.job) }
    }

    private mutating func renewDrop(_ index: Int) throws(Failure) {
        let settlement = steps[index].settlement
        guard settlement.record.mustRenewDrop else { return }
        do throws(IOError) {
            try spool.renewDrop(of: settlement.job, &steps[index].settlement.seal)
        } catch {
            // What cannot be read is not renewed: it fails, or does so already.
            let isUnreadable = ["open", "list", "copy"].contains(error.action) && error.errno != .ioError
            guard isUnreadable, error.errno.trouble(with: .drop) != .pauses else { throw .settling(error) }
            if case .processed = settlement.outcome { throw Failure(inStage: error) }
        }
    }

    private mutating func intend(_ placement: Placement, _ number: Int, _ index: Int) throws(Failure) {
        let job = steps[index].settlement.job
        // What is not found in a folder that is away is not gone, and no folder is to be made in its place.
        if placement.source == nil, !spool.work.isInPlace { throw .workAway(spool) }
        try requireDrop(placement, steps[index].settlement)
        let decided: Decision?
        let placement = try unreserved(placement, number, index)
        do throws(IOError) {
            decided = try decide(placement, number, index, knowing: steps[index].settlement.known)
        } catch {
            guard error.action == ListFile.adding else { throw .settling(error) }
            throw error.path.starts(with: job.folder) ? .holdsList(error.path, job.drop) : .strangeList(error.path)
        }
        guard let decided else { throw try missing(placement.source ?? job.original, of: job) }
        steps[index].moves.append(decided.intents)
        steps[index].original = decided.original ?? steps[index].original
        steps[index].add(decided.sides)
        steps[index].unsynced.files += decided.unsynced.files
        if decided.unsynced.needsWhole { steps[index].unsynced.needsWhole = true }
        steps[index].notes += decided.note.map { [$0] } ?? []
    }

    /// What goes back has to be there, here or with a folder that an earlier attempt set aside.
    private func requireDrop(_ placement: Placement, _ settlement: Settlement) throws(Failure) {
        guard placement.source == nil, settlement.isRelease else { return }
        let isAside: Bool
        do throws(IOError) { isAside = try spool.work.hasSetAside(settlement.job.id) } catch { throw .settling(error) }
        guard isAside else { throw try missing(settlement.job.original, of: settlement.job) }
    }

    /// Why something was not found in a job's folder.
    private func missing(_ path: FilePath, of job: Job) throws(Failure) -> Failure {
        do throws(IOError) {
            return try spool.work.isGone(path) == true ? .missing(path, of: job) : .workAway(spool)
        } catch {
            throw .settling(error)
        }
    }

    /// Refuses what would go into a reserved folder, or replace one. A failed original must find a place all the same.
    private mutating func unreserved(
        _ placement: Placement, _ number: Int, _ index: Int
    ) throws(Failure) -> Placement {
        // A list is never replaced by what has its name, and no drop is told from it by a number.
        if placement.onConflict != .rename, !placement.isFailure, placement.lists.contains(placement.name) {
            throw .named(placement)
        }
        let isCertain = placement.role == .output && placement.onConflict != .replace
        if isCertain, cleared.contains(placement.folder) { return placement }
        let found: ReservedFolders.Reserved?
        do throws(IOError) {
            found = try spool.reservedFolder(for: placement, &mover.open)
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

    /// Sidecars belong to what follows them.
    private static func moves(of intents: [Intent]) -> [[Intent]] {
        var moves: [[Intent]] = []
        var open: [Intent] = []
        for intent in intents {
            open.append(intent)
            if intent.role != .sidecar {
                moves.append(open)
                open = []
            }
        }
        return open.isEmpty ? moves : moves + [open]
    }

    /// Decides on the names of a placement and writes what goes beside it. Nil where its source is gone.
    ///
    /// `known`: what the drop is. Then no name is looked up before: most are free, and the move tells. `kept`: the
    /// moves that are on record for it until now.
    mutating func decide(
        _ placement: Placement, _ number: Int, _ index: Int, knowing known: FileIdentity.Found? = nil,
        keeping kept: [Intent] = []
    ) throws(IOError) -> Decision? {
        let job = steps[index].settlement.job
        var found: FileIdentity.Found?
        if let known, placement.source == job.original {
            found = known
        } else if let source = placement.source {
            found = try FileIdentity.examine(source)
            if found == nil { return nil }
        }
        var placement = try placement.inSubfolders(&mover.open)
        // What was dropped as a file may be a folder by now: exchanged just before it was claimed.
        if let found { placement.isFolder = found.isFolder }
        let rights = FinalRights(placement, found, of: job, spool.pipeline.rights)
        if let source = placement.source {
            try rights.apply(to: source)
        } else {
            try Folder.make(job.folder, mode: 0o700)
        }
        var folder: HeldFolder?
        if case .open(let held) = try mover.open.look(placement.folder) { folder = held }
        try checkLists(for: placement, in: folder, index)
        let chosen = try names.choose(placement, in: folder, of: job, looking: known == nil)
        reserved += chosen.targets
        var decision = Decision()
        try decision.writeSidecars(of: placement, as: chosen, number: number, rights, in: job.folder, keeping: kept)
        try decision.add(placement, as: chosen, found, isSynced: spool.diskSync.isFull, in: folder, progress)
        return decision
    }

    /// The name was taken since it was chosen: picks another one, recorded before it is used.
    mutating func chooseAgain(_ number: Int, _ index: Int) throws(IOError) {
        let sidecars = try decideAgain(number, index)
        try spool.diskSync.sync(files: sidecars, by: spool.work.whole)
        commitIntents([index])
        if steps[index].failure != nil {
            throw IOError("write to the journal for", steps[index].placements[number].folder, .ioError)
        }
    }

    /// Picks another name. The sidecars that were written for it: the rest is on the disk since the first choice.
    mutating func decideAgain(_ number: Int, _ index: Int) throws(IOError) -> [FilePath] {
        let placement = steps[index].placements[number]
        let kept = steps[index].moves[number]
        // A start that comes before the new one is on record follows the old one, and finds its sidecars as they were.
        steps[index].settlement.known = nil
        guard let decided = try decide(placement, number, index, keeping: kept) else {
            throw IOError("publish", placement.source ?? placement.folder, .noSuchFileOrDirectory)
        }
        steps[index].moves[number] = decided.intents
        steps[index].add(decided.sides)
        steps[index].notes += decided.note.map { [$0] } ?? []
        return decided.intents.filter { $0.role == .sidecar }.map(\.source)
    }
}

extension Placement {
    /// The one that was decided by these moves, as it is planned now, if it still is.
    fileprivate init(
        replaying moves: [Intent], of settlement: Settlement, as planned: [Placement],
        onConflict: Pipeline.ConflictPolicy
    ) {
        // Sidecars alone: the original was not there any more.
        let main = moves.last.flatMap { $0.role == .sidecar ? nil : $0 }
        if let same = planned.first(where: { $0.source == main?.source }) {
            self = same
            return
        }
        let job = settlement.job
        self.init(
            role: main?.role ?? .original, source: main?.source,
            folder: moves.last?.target.removingLastComponent() ?? job.folder,
            name: main?.target.lastName ?? job.drop.name, isFolder: false, sidecars: [], onConflict: onConflict)
        if case .failed = settlement.outcome { isFailure = role == .original }
    }
}
