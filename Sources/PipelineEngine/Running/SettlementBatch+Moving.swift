import Journal
import PipelineKit
import SystemPackage

/// The moves of all jobs of a batch.
extension SettlementBatch {
    /// Makes the moves of all placements of a role.
    mutating func move(where isWanted: (Placement) -> Bool) {
        for index in steps.indices where steps[index].failure == nil {
            for (number, placement) in steps[index].placements.enumerated() where isWanted(placement) {
                do throws(Failure) {
                    try move(placement, number, index)
                } catch {
                    steps[index].failure = error
                    if error.class == .file { takeBack(index) }
                    break
                }
            }
        }
    }

    /// Brings the changed folders to the disk.
    mutating func syncFolders() {
        do throws(IOError) {
            try mover.sync()
        } catch {
            for index in steps.indices where steps[index].failure == nil { steps[index].failure = .unsettled(error) }
        }
    }

    /// What was copied goes when all of its job is in its place: until then the copies can be taken back. From here on
    /// a job is published, and what goes wrong is no failure of its drop.
    mutating func removeCopied() {
        for index in steps.indices where steps[index].failure == nil {
            do throws(IOError) {
                try mover.removeCopied(of: steps[index].moves.joined())
            } catch {
                steps[index].failure = .unsettled(error)
            }
        }
    }

    /// Empties the jobs' folders: once their ends are on record, what is in a folder is taken for a new claim.
    mutating func emptyFolders(where isWanted: (Leavings) -> Bool) {
        for index in steps.indices where steps[index].failure == nil {
            let leavings = leavings(of: steps[index])
            guard isWanted(leavings) else { continue }
            let job = steps[index].settlement.job
            do throws(IOError) {
                let aside = try spool.work.empty(
                    job.folder, of: job.id, drop: job.drop.name, remains: leavings.remains)
                steps[index].aside = aside.path
                if aside.path == nil { steps[index].aside = try setAsideBefore(steps[index]) }
                // What an attempt before this one removed may not be on the disk.
                if aside.hasChanged || leavings.remains || leavings.leavesMore || steps[index].isReplay {
                    mover.changed(spool.work.active)
                }
                if let path = aside.path, steps[index].keptOriginal == nil {
                    warnings.append(WorkFolder.strayWarning(of: job.drop.name, path))
                }
            } catch {
                steps[index].failure = .unsettled(error)
            }
        }
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

    private func leavings(of step: Step) -> Leavings {
        let isMoved = step.moves.joined().contains { $0.source == step.settlement.job.original }
        if spool.pipeline.onConflict == .replace, isMoved { return Leavings(remains: true, leavesMore: true) }
        let isCopied = step.moves.joined().contains { mover.copied.contains($0.source) }
        guard case .processed = step.settlement.outcome, spool.pipeline.processed == .delete else {
            return Leavings(leavesMore: isCopied)
        }
        return Leavings(remains: true, leavesMore: isCopied)
    }

    private mutating func move(_ placement: Placement, _ number: Int, _ index: Int) throws(Failure) {
        guard number < steps[index].moves.count else { return }
        let job = steps[index].settlement.job
        do throws(IOError) {
            while true {
                let moves = steps[index].moves[number]
                if let folder = moves.last?.target.removingLastComponent() {
                    try mover.makeFolder(folder, for: placement.role)
                }
                let made = try mover.carryOut(
                    moves, of: job, isReplay: steps[index].isReplay, isFailure: placement.isFailure)
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
    private mutating func leave(_ number: Int, _ index: Int, because error: IOError) throws(Failure) {
        let job = steps[index].settlement.job
        let kept = spool.work.keptPath(of: job.drop.name, of: job.id)
        warnings.append("'\(job.drop.name)' failed and is kept in '\(kept.text)': \(error)")
        steps[index].settlement.leaveOriginal(at: kept, because: error)
        names.release(steps[index].moves[number].map(\.target))
        steps[index].placements = try plan(steps[index].settlement)
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
            try mover.takeBack(steps[index].made, of: steps[index].settlement.job)
            steps[index].made = []
        } catch {
            steps[index].failure = .unsettled(error)
        }
    }
}
