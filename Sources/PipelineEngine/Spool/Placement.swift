package import PipelineKit
package import SystemPackage

/// One thing that is to get its final name at settlement: what, where, under which name, with what beside it.
package struct Placement: Sendable {
    /// The file or folder, in the job's folder; nil where somebody took it from there, so that only the report is left
    /// to be placed.
    package let source: FilePath?
    /// The folder it goes into; made if missing.
    package let folder: FilePath
    /// The name it is to have, if that is free.
    package let name: FileName
    /// Whether it is a folder.
    package let isFolder: Bool
    /// Files that are written beside it, under its final name.
    package let companions: [Companion]
    /// What happens where the name is taken.
    package let onConflict: Pipeline.ConflictPolicy
    /// Whether `folder` is made where it is missing. One that is configured as it is may be a mount that is away.
    package let makesFolder: Bool

    /// The name to try as number `attempt`, from 1.
    func candidate(_ attempt: Int) -> FileName {
        attempt == 1 ? name : name.numbered(attempt, isFolder: isFolder)
    }
}

/// How far a job's settlement is, kept over a pause so that nothing is published twice.
package struct SettlementProgress: Sendable, Equatable {
    /// What has its final name already, companions included, by the number of its placement.
    package var placed: [Int: [FilePath]] = [:]

    /// Nothing done.
    package init() {}
}

/// A job that is to be settled.
package struct Settlement: Sendable {
    /// The job.
    package let job: Job
    /// What its stages made; for a failed job what they had made so far.
    package let payload: Payload
    /// How it ends.
    package let outcome: JobState.Outcome
    /// For a failed job: the report to put beside the original.
    package let report: FailureReport?
    /// What an earlier attempt got done.
    package var progress: SettlementProgress

    /// A settlement.
    package init(
        job: Job, payload: Payload, outcome: JobState.Outcome, report: FailureReport?,
        progress: SettlementProgress = SettlementProgress()
    ) {
        self.job = job
        self.payload = payload
        self.outcome = outcome
        self.report = report
        self.progress = progress
    }

    /// What came of it.
    package enum Result: Sendable {
        /// Everything is in its place. `original`: where the dropped file went, nil where it was deleted or is an
        /// output.
        case settled(outputs: [FilePath], original: FilePath?)
        /// It did not work; the progress is to be kept for the next attempt.
        case failed(StageFailure, SettlementProgress)
        /// The outputs could not be brought to the disk, so they must be made anew.
        case outputsLost(StageFailure)
    }

    /// The placements of a settlement: outputs first, then the original; none for one that goes with its job's folder.
    struct Plan {
        var outputs: [Placement] = []
        var original: Placement?
    }

    /// Decides what goes where. Throws for a payload that no stage published.
    func plan(for pipeline: Pipeline) throws(StageFailure) -> Plan {
        var plan = Plan()
        if case .failed = outcome {
            var companions: [Companion] = []
            if let report {
                companions = [Companion(suffix: ".error.json", parts: [.text(report.json)])]
            }
            // A failure must find a place whatever is there.
            let policy: Pipeline.ConflictPolicy = pipeline.onConflict == .fail ? .rename : pipeline.onConflict
            let isThere = Folder.kind(of: job.original) != nil
            plan.original = place(original: isThere ? job.original : nil, in: pipeline.failed, companions, policy)
            return plan
        }
        if let destination = payload.destination {
            plan.outputs = [try output(to: destination, pipeline)]
            if payload.isDrop { return plan }
        } else if !payload.isDrop {
            throw .file(
                "settle.unpublished", "The stages made files of '\(job.drop.name)', but none of them published these.",
                remedy: "Let a `move` stage apply to this name too (see its `when`), or keep `unpack` from it.")
        }
        switch pipeline.processed {
        case .delete: break
        case .folder(let folder):
            let companions = payload.isDrop ? payload.companions : []
            plan.original = place(original: job.original, in: folder, companions, pipeline.onConflict)
        }
        return plan
    }

    private func output(to destination: FilePath, _ pipeline: Pipeline) throws(StageFailure) -> Placement {
        switch payload.shape {
        case .file(let name):
            return Placement(
                source: payload.path, folder: destination, name: name, isFolder: false, companions: payload.companions,
                onConflict: pipeline.onConflict, makesFolder: true)
        case .folder:
            guard let name = destination.lastName else {
                throw .file("settle.destination", "'\(destination.text)' is no place for a folder.")
            }
            return Placement(
                source: payload.root, folder: destination.removingLastComponent(), name: name, isFolder: true,
                companions: payload.companions, onConflict: pipeline.onConflict, makesFolder: true)
        }
    }

    private func place(
        original: FilePath?, in folder: FilePath, _ companions: [Companion], _ policy: Pipeline.ConflictPolicy
    ) -> Placement {
        Placement(
            source: original, folder: folder, name: job.drop.name, isFolder: false, companions: companions,
            onConflict: policy, makesFolder: false)
    }
}
