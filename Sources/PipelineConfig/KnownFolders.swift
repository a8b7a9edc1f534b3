package import Files
package import PipelineKit
import SystemPackage

/// Where the folders of pipelines that run were found: what a reload leaves unchanged it does not look at, which may be
/// on a file system that does not answer.
package struct KnownFolders: Sendable {
    private struct Known: Sendable {
        let source: FilePath
        let declaration: Declaration
        var folders: [FilePath: ResolvedFolder] = [:]
    }

    private var known: [String: Known] = [:]

    package init() {}

    /// Looks at the folders of the pipelines that are in force now, unless they are known already. What is not there is
    /// looked at each time, if at all.
    package mutating func note(_ pipelines: [Pipeline], _ mayLook: Lookout.Permit) {
        known = pipelines.reduce(into: [:]) { all, pipeline in
            let (source, declaration) = (pipeline.source, pipeline.declaration)
            var found = known(pipeline.name, source, declaration) ?? Known(source: source, declaration: declaration)
            for path in pipeline.checkedFolders where found.folders[path] == nil && mayLook(path) {
                let folder = ResolvedFolder(path)
                if folder.identity != nil { found.folders[path] = folder }
            }
            all[pipeline.name] = found
        }
    }

    /// Those of the drafts that say what the pipeline that runs said.
    func folders(of drafts: [PipelineDraft]) -> [(path: FilePath, folder: ResolvedFolder)] {
        drafts.flatMap { draft in
            let found = known(draft.name?.value ?? "", draft.source, draft.declaration)
            return (found?.folders ?? [:]).map { ($0.key, $0.value) }
        }
    }

    private func known(_ name: String, _ source: FilePath, _ declaration: Declaration) -> Known? {
        known[name].flatMap { $0.source == source && $0.declaration == declaration ? $0 : nil }
    }
}

extension Pipeline {
    /// Those that `PipelineChecks` asks about.
    fileprivate var checkedFolders: [FilePath] {
        var folders = [inbox, work ?? inbox.defaultWorkArea, failed]
        if case .folder(let processed) = processed { folders.append(processed) }
        return folders + stages.flatMap { $0.targets.values.map(\.fixedFolder) }
    }
}
