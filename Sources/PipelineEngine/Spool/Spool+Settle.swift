import PipelineKit
import SystemPackage

extension Spool {
    /// Settles a batch of jobs. The order holds for each: outputs on disk, then their names, then their folders on
    /// disk, then the original's move, then its folder on disk, then the job's folder goes. Folders are synced once a
    /// batch.
    ///
    /// Each job has its own result, in the batch's order; one that fails does not hold up the others.
    package func settle(_ batch: [Settlement]) -> [Settlement.Result] {
        var steps = batch.map { SettlementStep(settlement: $0) }
        forEach(&steps) { (step) throws(StageFailure) in try prepare(&step) }
        syncOutputs(&steps)

        var touched: Set<FilePath> = []
        forEach(&steps) { (step) throws(StageFailure) in
            for (index, placement) in step.plan.outputs.enumerated() {
                try place(placement, number: index, &step, &touched)
            }
        }
        sync(folders: touched, of: &steps)

        touched = []
        forEach(&steps) { (step) throws(StageFailure) in
            guard let original = step.plan.original else { return }
            try place(original, number: step.plan.outputs.count, &step, &touched)
        }
        sync(folders: touched, of: &steps)

        forEach(&steps) { (step) throws(StageFailure) in
            do throws(IOError) {
                try work.removeFolder(of: step.settlement.job.id)
            } catch {
                throw StageFailure(error)
            }
        }
        return steps.map(\.result)
    }

    /// Plans, and gathers what must be on disk before anything gets its name.
    private func prepare(_ step: inout SettlementStep) throws(StageFailure) {
        let settlement = step.settlement
        step.plan = try settlement.plan(for: pipeline)
        let placements = step.plan.outputs + (step.plan.original.map { [$0] } ?? [])
        for (index, placement) in placements.enumerated() where settlement.progress.placed[index] == nil {
            if let source = placement.source, Folder.kind(of: source) == nil {
                throw .missing(source, of: settlement.job)
            }
            do throws(IOError) {
                step.unsynced += try prepare(placement, of: settlement.job)
            } catch {
                throw .settling(error)
            }
        }
    }

    /// Writes what goes beside a thing, under the name that it will most likely get; returns what has to be synced.
    private func prepare(_ placement: Placement, of job: Job) throws(IOError) -> [FilePath] {
        let target = placement.folder.appending(placement.name)
        if placement.onConflict == .fail, Folder.kind(of: target) != nil {
            throw IOError("publish", target, .fileExists)
        }
        if placement.source == nil { try Folder.make(job.folder, mode: 0o700) }
        let companions = try writeCompanions(placement, name: placement.name, of: job, sync: false)
        guard durability.isFull, let source = placement.source else { return companions }
        return companions + (try Self.everything(in: source))
    }

    private func syncOutputs(_ steps: inout [SettlementStep]) {
        let files = steps.flatMap { $0.failure == nil ? $0.unsynced : [] }
        do throws(IOError) {
            try durability.sync(files: files, below: work.active)
        } catch {
            for index in steps.indices where steps[index].failure == nil {
                steps[index].failure = StageFailure(error)
                steps[index].hasLostOutputs = true
            }
        }
    }

    private func sync(folders: Set<FilePath>, of steps: inout [SettlementStep]) {
        do throws(IOError) {
            try durability.sync(folders: folders)
        } catch {
            for index in steps.indices where steps[index].failure == nil { steps[index].failure = StageFailure(error) }
        }
    }

    private func place(
        _ placement: Placement, number: Int, _ step: inout SettlementStep, _ touched: inout Set<FilePath>
    ) throws(StageFailure) {
        if step.settlement.progress.placed[number] != nil { return }
        let paths = try publish(placement, of: step.settlement.job, touched: &touched)
        step.settlement.progress.placed[number] = paths
    }

    /// Does a step for every job that has not failed yet.
    private func forEach(
        _ steps: inout [SettlementStep], _ body: (inout SettlementStep) throws(StageFailure) -> Void
    ) {
        for index in steps.indices where steps[index].failure == nil {
            do throws(StageFailure) {
                try body(&steps[index])
            } catch {
                steps[index].failure = error
            }
        }
    }
}

/// A settlement on its way through a batch.
private struct SettlementStep {
    var settlement: Settlement
    var plan = Settlement.Plan()
    /// What must be on disk before anything gets its name.
    var unsynced: [FilePath] = []
    var failure: StageFailure?
    var hasLostOutputs = false

    var result: Settlement.Result {
        if let failure {
            return hasLostOutputs ? .outputsLost(failure) : .failed(failure, settlement.progress)
        }
        let placed = settlement.progress.placed
        let outputs = plan.outputs.indices.flatMap { placed[$0] ?? [] }
        let original = plan.original == nil ? [] : placed[plan.outputs.count] ?? []
        // What lies beside a moved original is an output too; what lies beside a failed one is the reason.
        return .settled(outputs: outputs + original.dropFirst(), original: original.first)
    }
}
