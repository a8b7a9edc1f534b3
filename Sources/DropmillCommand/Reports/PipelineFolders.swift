import Files
import PipelineConfig
import PipelineEngine
import PipelineKit
import SystemPackage

/// The folders of all pipelines, to find out where a path belongs.
struct PipelineFolders {
    /// What a path is to the pipelines.
    enum Place: Equatable {
        /// In the inbox of a pipeline, by its place: the folders from the inbox on, and the name.
        case inbox(Int, folders: [FileName], FileName)
        /// In a work folder, as part of a job.
        case work(Int, JobID?)
        /// Among originals or results of a pipeline; what the folder is called in its file.
        case settled(Int, key: String, FileName)
        /// A name without a folder.
        case name(FileName)
        case elsewhere
    }

    let pipelines: [Pipeline]
    private let inboxes: [ResolvedFolder]
    private let works: [ResolvedFolder]

    init(_ pipelines: [Pipeline]) {
        self.pipelines = pipelines
        inboxes = pipelines.map { ResolvedFolder($0.inbox) }
        works = pipelines.map { ResolvedFolder(Self.workFolder(of: $0)) }
    }

    private static func workFolder(of pipeline: Pipeline) -> FilePath {
        do throws(IOError) {
            return try WorkFolder.path(for: pipeline)
        } catch {
            // Without its inbox it has none.
            return pipeline.inbox.removingLastComponent().appending(".dropmill").appending(pipeline.name)
        }
    }

    func place(of given: FilePath) -> Place {
        let path = given.absolute.lexicallyNormalized()
        guard let name = path.lastName else { return .elsewhere }
        // The file itself may be a symbolic link, and is what it is then.
        let folder = ResolvedFolder(path.removingLastComponent())
        for (index, work) in works.enumerated() {
            guard let below = folder == work ? FilePath() : folder.path(below: work) else { continue }
            let ids = (below.components.map { $0.string } + [name.text]).compactMap { JobID($0) }
            return .work(index, ids.first)
        }
        for (index, inbox) in inboxes.enumerated() {
            if folder == inbox { return .inbox(index, folders: [], name) }
            guard let below = folder.path(below: inbox) else { continue }
            return .inbox(index, folders: below.components.compactMap { FileName($0) }, name)
        }
        for (index, pipeline) in pipelines.enumerated() {
            for (key, settled) in Self.settled(pipeline) {
                let settled = ResolvedFolder(settled)
                if folder == settled || folder.isInside(settled) { return .settled(index, key: key, name) }
            }
        }
        let isBare = given.components.count == 1 && !given.isAbsolute
        return isBare && Folder.kind(of: given) == nil ? .name(name) : .elsewhere
    }

    private static func settled(_ pipeline: Pipeline) -> [(key: String, FilePath)] {
        var folders: [(String, FilePath)] = [("failed", pipeline.failed)]
        if case .folder(let processed) = pipeline.processed { folders.append(("processed", processed)) }
        for stage in pipeline.stages {
            for (option, target) in stage.targets.sorted(by: { $0.key < $1.key }) {
                folders.append(("\(stage.kind).\(option)", target.fixedFolder))
            }
        }
        return folders
    }
}
