import Files
import Journal
import PipelineKit
import SystemPackage

/// The moves of all jobs of a batch.
extension SettlementBatch {
    /// Makes all moves. The intents are on the disk, so it does not matter in which order these get there. Those whose
    /// names turn out to be taken choose again together, when all others are where they belong.
    mutating func move() {
        var taken: [Int] = []
        var index = 0
        while index < steps.count {
            if isQuick(index) { spool.renaming.take { moveQuickly(&index, &taken) } } else { moveNext(&index, &taken) }
        }
        guard !taken.isEmpty else { return }
        chooseAgain(taken)
        for index in taken where steps[index].failure == nil { _ = move(index, choosing: true) }
    }

    /// Those from one on that need a rename or two each, as far as is known.
    private mutating func moveQuickly(_ index: inout Int, _ taken: inout [Int]) {
        while index < steps.count, isQuick(index) { moveNext(&index, &taken) }
    }

    /// Not once something had to be copied or failed: its folder may be on a file system that does not answer, and all
    /// who rename here would wait for that.
    private func isQuick(_ index: Int) -> Bool {
        steps[index].settlement.known != nil && mover.copied.isEmpty && !hasFailedMove
    }

    private mutating func moveNext(_ index: inout Int, _ taken: inout [Int]) {
        progress.begin(steps[index].settlement.job)
        requireLease(index...index)
        if steps[index].failure == nil, !move(index, choosing: false) { taken.append(index) }
        index += 1
    }

    /// Makes the moves of a job that are not made. False where a name is taken and none is to be chosen now.
    private mutating func move(_ index: Int, choosing: Bool) -> Bool {
        do throws(Failure) {
            while steps[index].next < steps[index].placements.count {
                guard try move(steps[index].next, index, choosing: choosing) else { return false }
                steps[index].next += 1
            }
        } catch {
            fail(index, error)
        }
        return true
    }

    private mutating func fail(_ index: Int, _ failure: Failure) {
        hasFailedMove = true
        guard !steps[index].isFenced else { return }
        steps[index].failure = failure
        if failure.class == .file { takeBack(index) }
    }

    /// Brings the changed folders to the disk. The result: whether all of the work folder's file system is, by that.
    @discardableResult
    mutating func syncFolders() -> Bool {
        progress.move()
        do throws(IOError) {
            return try mover.sync()
        } catch {
            doubtLists(because: error)
            for index in steps.indices where steps[index].failure == nil { steps[index].failure = .unsettled(error) }
            return false
        }
    }

    /// What was copied goes when all of its job is in its place: until then the copies can be taken back. From here on
    /// a job is published, and what goes wrong is no failure of its drop.
    mutating func removeCopied() {
        for index in steps.indices where steps[index].failure == nil {
            progress.begin(steps[index].settlement.job)
            do throws(IOError) {
                try mover.removeCopied(of: steps[index].moves.joined())
            } catch {
                steps[index].failure = .unsettled(error)
            }
        }
    }

    /// Empties the jobs' folders: once their ends are on record, what is in a folder is taken for a new claim.
    mutating func emptyFolders(where isWanted: (Leavings) -> Bool) {
        for index in steps.indices where steps[index].failure == nil && !isKnownEmpty(index) {
            let leavings = leavings(of: steps[index])
            guard isWanted(leavings) else { continue }
            let job = steps[index].settlement.job
            progress.begin(job)
            do throws(IOError) {
                let aside = try spool.work.empty(
                    job.folder, of: job.id, drop: job.drop.name, remains: leavings.remains)
                steps[index].aside = aside.path
                if aside.path == nil { steps[index].aside = try setAsideBefore(steps[index]) }
                // What an attempt before this one removed may not be on the disk.
                if aside.hasChanged || leavings.remains || leavings.leavesMore || steps[index].isReplay {
                    mover.changed(spool.work.path)
                }
                if let path = aside.path, steps[index].keptOriginal == nil {
                    warnings.append(WorkFolder.strayWarning(of: job.drop.name, path))
                }
            } catch {
                steps[index].failure = .unsettled(error)
            }
        }
    }

    /// Whether the drop was alone in its folder, and was moved with what was made for it.
    private func isKnownEmpty(_ index: Int) -> Bool {
        steps[index].settlement.known != nil && !mayLeaveMore && !steps[index].isReplay
    }

    /// Whether something may be left of a drop when all moves are made.
    var mayLeaveMore: Bool {
        spool.pipeline.onConflict == .replace || spool.pipeline.processed == .delete || !mover.copied.isEmpty
    }

    /// Where an earlier attempt set a failed job's folder aside with the original.
    private func setAsideBefore(_ step: Step) throws(IOError) -> FilePath? {
        let job = step.settlement.job
        guard case .failed = step.settlement.outcome, Folder.kind(of: job.folder) == nil else { return nil }
        let kept = spool.work.keptPath(of: job.drop.name, of: job.id)
        return try FileIdentity.find(kept) == nil ? nil : kept.removingLastComponent()
    }

    /// What may be left of a drop in its job's folder when all moves are made.
    struct Leavings {
        /// Whether it goes with the folder: it was to be deleted, or gave way to a newer file.
        var remains = false
        /// Whether that may only go when the moves are on the disk.
        var leavesMore = false
    }

    func leavings(of step: Step) -> Leavings {
        let isMoved = step.moves.joined().contains { $0.source == step.settlement.job.original }
        if spool.pipeline.onConflict == .replace, isMoved { return Leavings(remains: true, leavesMore: true) }
        let isCopied = step.moves.joined().contains { mover.copied.contains($0.source) }
        guard case .processed = step.settlement.outcome, spool.pipeline.processed == .delete else {
            return Leavings(leavesMore: isCopied)
        }
        return Leavings(remains: true, leavesMore: isCopied)
    }

    private mutating func move(_ number: Int, _ index: Int, choosing: Bool) throws(Failure) -> Bool {
        guard number < steps[index].moves.count else { return true }
        let (job, placement) = (steps[index].settlement.job, steps[index].placements[number])
        do throws(IOError) {
            var hasMadeAgain = false
            while true {
                let moves = steps[index].moves[number]
                let folder = moves.last?.target.removingLastComponent()
                if let folder { try mover.makeFolder(folder, for: placement.role) }
                let isMade: Bool
                do throws(IOError) {
                    isMade = try carryOut(moves, index, isFailure: placement.isFailure)
                } catch {
                    // It was empty, and has just gone as such (`keep`).
                    guard !hasMadeAgain, let folder, mover.forget(ifRemoved: folder) else { throw error }
                    hasMadeAgain = true
                    continue
                }
                if isMade { return true }
                guard choosing else { return false }
                try chooseAgain(number, index)
            }
        } catch {
            guard !steps[index].isFenced else { throw .cancelled }
            if try isMissing(index, error) { throw .missing(job.original, of: job) }
            guard error.isOfReading(job) || error.isOfMoving(placement.source, of: job) else { throw .settling(error) }
            guard placement.isFailure else { throw .ofDrop(error) }
            try leave(number, index, because: error)
            return try move(number, index, choosing: true)
        }
    }

    /// Makes moves, all or none; false where a name is taken.
    private mutating func carryOut(_ moves: [Intent], _ index: Int, isFailure: Bool) throws(IOError) -> Bool {
        let job = steps[index].settlement.job
        var (made, vain): ([Intent]?, [Intent]) = (nil, [])
        do throws(IOError) {
            made = try mover.carryOut(
                moves, of: job, isReplay: steps[index].isReplay, isFailure: isFailure, vain: &vain)
        } catch {
            try takeBack(vain, index)
            throw error
        }
        try takeBack(vain, index)
        steps[index].made += made ?? []
        return made != nil
    }

    /// Unless another node goes on from there.
    private mutating func takeBack(_ made: [Intent], _ index: Int) throws(IOError) {
        guard !made.isEmpty else { return }
        try requireOwn(index)
        try mover.takeBack(made, of: steps[index].settlement.job)
    }

    /// Whether a drop left its folder after its claim, and not by us: nobody looked for it before its move.
    private func isMissing(_ index: Int, _ error: IOError) throws(Failure) -> Bool {
        guard error.errno == .noSuchFileOrDirectory, steps[index].settlement.known != nil, !steps[index].isReplay else {
            return false
        }
        do throws(IOError) {
            return try spool.work.isGone(steps[index].settlement.job.original) == true
        } catch {
            throw .settling(error)
        }
    }

    /// The names of these jobs' next placements were taken since they were chosen.
    private mutating func chooseAgain(_ indices: [Int]) {
        var sidecars: [FilePath] = []
        for index in indices {
            do throws(IOError) {
                sidecars += try decideAgain(steps[index].next, index)
            } catch {
                fail(index, error.isOfReading(steps[index].settlement.job) ? .ofDrop(error) : .settling(error))
            }
        }
        do throws(IOError) {
            try spool.diskSync.sync(files: sidecars, by: spool.work.whole)
        } catch {
            for index in indices where steps[index].failure == nil { steps[index].failure = .settling(error) }
        }
        commitIntents(indices)
    }

    /// The original of a failed job cannot be brought to `failed`, and nobody else is to wait for that. It stays in its
    /// folder, which is set aside once the job is over, and its report says where.
    private mutating func leave(_ number: Int, _ index: Int, because error: IOError) throws(Failure) {
        let job = steps[index].settlement.job
        let kept = spool.work.keptPath(of: job.drop.name, of: job.id)
        let what = steps[index].settlement.isRelease ? "was released" : "failed"
        warnings.append("'\(job.drop.name)' \(what) and is kept in '\(kept.text)': \(error)")
        steps[index].settlement.leaveOriginal(at: kept, because: error)
        names.release(steps[index].moves[number].map(\.target))
        steps[index].placements = try plan(steps[index].settlement)
        do throws(IOError) {
            try chooseAgain(number, index)
        } catch {
            throw .settling(error)
        }
    }

    /// The job is going to fail, so nothing of it may stay published. Where that does not work now, the settlement is
    /// tried again, and comes here again.
    private mutating func takeBack(_ index: Int) {
        do throws(IOError) {
            try takeBack(steps[index].made, index)
            steps[index].made = []
        } catch {
            if !steps[index].isFenced { steps[index].failure = .unsettled(error) }
        }
    }
}
