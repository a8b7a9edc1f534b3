import Files
import Journal
import PipelineKit
import SystemPackage

/// What a settlement moves where, in order: outputs first, the original last; nothing for an original that will be
/// deleted with its job's folder. Pure: its inputs were looked up before.
struct SettlementPlan: Sendable {
    /// What is in the job's folder.
    struct Found: Sendable {
        var marker: FilePath?
        /// Whether the original of a failed job is there, or an earlier attempt moved it to `failed`.
        var hasOriginal: Bool
    }

    private(set) var placements: [Placement] = []
    private let job: Job
    private let payload: Payload
    private let found: Found
    private let pipeline: Pipeline

    /// The plan for a settlement. Throws for a payload that no stage published.
    init(_ settlement: Settlement, finding found: Found, for pipeline: Pipeline) throws(Failure) {
        job = settlement.job
        payload = settlement.record.payload ?? Payload(dropOf: settlement.job)
        self.found = found
        self.pipeline = pipeline
        switch settlement.outcome {
        case .failed: placements = [failedOriginal(settlement.report)]
        case .processed: placements = try published()
        }
    }

    private var marker: MarkerPlacement? {
        found.marker.map { MarkerPlacement(source: $0, rule: pipeline.ready.marker) }
    }

    /// The outputs. Throws for a payload that no stage published.
    private func published() throws(Failure) -> [Placement] {
        var placements: [Placement] = []
        for copy in payload.copies {
            placements.append(
                try output(copy.path, copy.isFolder, copy.sidecars, to: copy.destination))
        }
        if let destination = payload.destination {
            let isFolder = payload.shape == .folder
            placements.append(try output(payload.path, isFolder, payload.sidecars, to: destination))
            if payload.isDrop { return placements }
        } else if !payload.isDrop, !payload.copies.contains(where: { $0.source == payload.path }) {
            throw .file(
                "settle.unpublished", "The stages made files from '\(job.drop.name)', but no stage published them.",
                remedy: "Let \(kinds([.publishes, .publishesCopy]) ?? "a stage that publishes") apply to this name too "
                    + "(see its `when`), or keep \(kinds([.replacesPayload]) ?? "the others") from it.")
        }
        switch pipeline.processed {
        case .delete:
            guard placements.isEmpty, !payload.isDone, !pipeline.stages.isEmpty else { break }
            throw .file(
                "settle.unpublished",
                "No stage published anything from '\(job.drop.name)', and `processed: delete` would destroy it.",
                remedy: "Let \(kinds([.publishes, .publishesCopy]) ?? "a stage that publishes") apply to this name too "
                    + "(see its `when`), or give `processed` a folder.")
        case .folder(let folder):
            placements.append(
                Placement(
                    role: .original, source: job.original, folder: folder,
                    subfolders: try processedFolders(),
                    name: job.drop.name, isFolder: job.drop.isFolder,
                    sidecars: payload.isDrop ? payload.sidecars : [], onConflict: pipeline.onConflict,
                    lists: pipeline.lists, marker: marker))
        }
        return placements
    }

    /// The pipeline's stages with one of these effects, such as `move`; nil if there are none.
    private func kinds(_ effects: Set<StageDescriptor.Effect>) -> String? {
        let able = pipeline.stages.filter { !$0.stage.effects.isDisjoint(with: effects) }.map { "`\($0.kind)`" }
        let kinds = able.indices.filter { !able[..<$0].contains(able[$0]) }.map { able[$0] }
        return kinds.isEmpty ? nil : kinds.joined(separator: " or ")
    }

    /// The folders below `processed` that the original goes into.
    private func processedFolders() throws(Failure) -> [FileName] {
        guard let template = pipeline.processedTemplate else { return job.drop.folders }
        do throws(TemplateProblem) {
            return try template.folders(for: job)
        } catch {
            throw .file(
                "settle.processed",
                "The folder of `processed` cannot be rendered for '\(job.drop.name)': \(error.message).",
                remedy: "Change `processed`, or rename the file and drop it again.")
        }
    }

    /// The folders below `failed`; they must exist for any drop's name.
    private func failedFolders() -> [FileName] {
        do throws(TemplateProblem) {
            return try pipeline.failedTemplate?.folders(for: job) ?? job.drop.folders
        } catch {
            return job.drop.folders
        }
    }

    /// Where a failed original goes, with its report; the report alone where the original is elsewhere.
    private func failedOriginal(_ report: FailureReport?) -> Placement {
        var placement = Placement(
            role: .original, source: found.hasOriginal ? job.original : nil, folder: pipeline.failed,
            subfolders: failedFolders(), name: job.drop.name, isFolder: job.drop.isFolder,
            sidecars: report.map { [Sidecar(suffix: ".error.json", parts: [.text($0.json)])] } ?? [],
            // A failed original must always find a place.
            onConflict: pipeline.onConflict == .fail ? .rename : pipeline.onConflict, lists: pipeline.listsInFailed,
            marker: marker)
        placement.isFailure = true
        return placement
    }

    /// A folder takes the destination's name; a file keeps its own and goes into the destination.
    private func output(
        _ path: FilePath, _ isFolder: Bool, _ sidecars: [Sidecar], to destination: FilePath
    ) throws(Failure) -> Placement {
        guard let name = isFolder ? destination.lastName : path.lastName else {
            throw .file("settle.destination", "'\(destination.text)' cannot be used as a folder.")
        }
        return Placement(
            role: .output, source: path, folder: isFolder ? destination.removingLastComponent() : destination,
            name: name, isFolder: isFolder, sidecars: sidecars, onConflict: pipeline.onConflict,
            lists: pipeline.lists)
    }
}
