import Journal
import PipelineKit
import SystemPackage

/// The moves of all jobs of a batch.
extension SettlementBatch {
    /// Makes the moves of all placements of a role, then brings the folders to the disk.
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
