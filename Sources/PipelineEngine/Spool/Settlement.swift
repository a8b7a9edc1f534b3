package import Journal
package import PipelineKit
import SystemPackage

/// A job that is to be settled: what its journal record says, and what is to be told of a failure.
package struct Settlement: Sendable {
    /// The job.
    package let job: Job
    /// What is written down of it; `payload` is what its stages made, `intents` what an earlier attempt decided.
    package var record: JobRecord
    /// How it ends.
    package private(set) var outcome: JobState.Outcome
    /// For a failed job: the report to put beside the original.
    package private(set) var report: FailureReport?
    /// What the drop looked like when it was proved, where it stays its sender's.
    package var seal: Seal?
    /// Since when this process has been at the job; nil for one of an earlier run.
    var begun: MonotonicTime?
    /// Whether the original of a failed job stays in its folder, since it could not be brought to `failed`.
    private var leavesOriginal = false

    /// A settlement.
    package init(
        job: Job, record: JobRecord, outcome: JobState.Outcome, report: FailureReport?, seal: Seal? = nil
    ) {
        self.seal = seal
        self.job = job
        self.record = record
        self.outcome = outcome
        self.report = report
    }

    /// What came of it.
    package enum Result: Sendable {
        /// Everything is in its place, and the journal says so.
        case settled
        /// It did not work; what was decided stays decided.
        case failed(StageFailure)
        /// The outputs could not be brought to the disk, so they must be made anew.
        case outputsLost(StageFailure)
    }

    private var payload: Payload { record.payload ?? Payload(dropOf: job) }

    /// What goes where, in order: outputs first, the original last; nothing for an original that is to be deleted,
    /// which goes with its job's folder. Throws for a payload that no stage published.
    func placements(for pipeline: Pipeline) throws(StageFailure) -> [Placement] {
        if case .failed = outcome { return [try failedOriginal(pipeline)] }
        var placements: [Placement] = []
        for copy in payload.copies {
            placements.append(
                try output(copy.path, copy.isFolder, copy.companions, to: copy.destination, pipeline))
        }
        if let destination = payload.destination {
            let isFolder = payload.shape == .folder
            placements.append(try output(payload.path, isFolder, payload.companions, to: destination, pipeline))
            if payload.isDrop { return placements }
        } else if !payload.isDrop, !payload.copies.contains(where: { $0.source == payload.path }) {
            throw .file(
                "settle.unpublished", "The stages made files of '\(job.drop.name)', but none of them published these.",
                remedy: "Let a `move` stage apply to this name too (see its `when`), or keep `unpack` from it.")
        }
        switch pipeline.processed {
        case .delete:
            guard placements.isEmpty, !payload.isDone, !pipeline.stages.isEmpty else { break }
            throw .file(
                "settle.unpublished",
                "No stage published anything of '\(job.drop.name)', and `processed: delete` would destroy it.",
                remedy: "Let a `move` or `copy` stage apply to this name too (see its `when`), or give `processed` a "
                    + "folder.")
        case .folder(let folder):
            placements.append(
                Placement(
                    role: .original, source: job.original, folder: folder,
                    subfolders: try processedFolders(pipeline),
                    name: job.drop.name, isFolder: job.drop.isFolder,
                    companions: payload.isDrop ? payload.companions : [], onConflict: pipeline.onConflict,
                    marker: try marker(pipeline)))
        }
        return placements
    }

    /// The folders below `processed` that the original goes into.
    private func processedFolders(_ pipeline: Pipeline) throws(StageFailure) -> [FileName] {
        guard let template = pipeline.processedTemplate else { return job.drop.folders }
        do throws(TemplateProblem) {
            return try template.folders(for: job)
        } catch {
            throw .file(
                "settle.processed", "No folder of `processed` can be made for '\(job.drop.name)': \(error.message).",
                remedy: "Change `processed`, or rename the file and drop it again.")
        }
    }

    /// The same of `failed`, where a failure must find a place whatever it is called.
    private func failedFolders(_ pipeline: Pipeline) -> [FileName] {
        do throws(TemplateProblem) {
            return try pipeline.failedTemplate?.folders(for: job) ?? job.drop.folders
        } catch {
            return job.drop.folders
        }
    }

    /// The original of a failed job could not be brought to `failed`: it stays in its folder, which will be set aside,
    /// and what is told of the failure says where.
    mutating func leaveOriginal(at path: FilePath, because error: IOError) {
        guard case .failed(var failure) = outcome else { return }
        leavesOriginal = true
        let fact = "The original is kept in '\(path.text)': it could not be brought to `failed` (\(error.errno))."
        failure.remedy = "\(fact) \(failure.remedy)"
        outcome = .failed(failure)
        report?.remedy = failure.remedy
    }

    /// The drop's marker, where it has one in its job's folder.
    private func marker(_ pipeline: Pipeline) throws(StageFailure) -> Placement.Attendant? {
        do throws(IOError) {
            return try Spool.marker(in: job.folder).map {
                Placement.Attendant(source: $0, rule: pipeline.ready.marker)
            }
        } catch {
            throw .settling(error)
        }
    }

    private func failedOriginal(_ pipeline: Pipeline) throws(StageFailure) -> Placement {
        let reason = report.map { [Companion(suffix: ".error.json", parts: [.text($0.json)])] }
        // An earlier attempt may have moved it already; then the source is of no interest any more.
        var isThere = !leavesOriginal && !record.intents.isEmpty
        do throws(IOError) {
            if !isThere, !leavesOriginal { isThere = try FileIdentity.find(job.original) != nil }
        } catch {
            throw .settling(error)
        }
        var placement = Placement(
            role: .original, source: isThere ? job.original : nil, folder: pipeline.failed,
            subfolders: failedFolders(pipeline), name: job.drop.name, isFolder: job.drop.isFolder,
            companions: reason ?? [],
            // A failure must find a place whatever is there.
            onConflict: pipeline.onConflict == .fail ? .rename : pipeline.onConflict, marker: try marker(pipeline))
        placement.isFailure = true
        return placement
    }

    /// A folder takes the destination's name; a file keeps its own and goes into the destination.
    private func output(
        _ path: FilePath, _ isFolder: Bool, _ companions: [Companion], to destination: FilePath, _ pipeline: Pipeline
    ) throws(StageFailure) -> Placement {
        guard let name = isFolder ? destination.lastName : path.lastName else {
            throw .file("settle.destination", "'\(destination.text)' is no place for a folder.")
        }
        return Placement(
            role: .output, source: path, folder: isFolder ? destination.removingLastComponent() : destination,
            name: name, isFolder: isFolder, companions: companions, onConflict: pipeline.onConflict)
    }
}
