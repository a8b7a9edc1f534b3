import Files
package import PipelineKit
import SystemPackage

/// Where the inboxes of pipelines that run were found: what a reload leaves unchanged it does not look at, which may be
/// on a file system that does not answer.
package struct KnownInboxes: Sendable {
    private struct Known: Sendable {
        let source: FilePath
        let declaration: Declaration
        let path: FilePath
        let folder: ResolvedFolder
    }

    private var known: [String: Known] = [:]

    package init() {}

    /// Looks at the inboxes of the pipelines that are in force now, unless they are known already. What is not there is
    /// looked at each time.
    package mutating func note(_ pipelines: [Pipeline]) {
        let inboxes = pipelines.compactMap { pipeline -> (String, Known)? in
            if let known = known(pipeline.name, pipeline.source, pipeline.declaration) { return (pipeline.name, known) }
            let folder = ResolvedFolder(pipeline.inbox)
            guard folder.identity != nil else { return nil }
            return (
                pipeline.name,
                Known(
                    source: pipeline.source, declaration: pipeline.declaration, path: pipeline.inbox, folder: folder)
            )
        }
        known = Dictionary(inboxes) { first, _ in first }
    }

    /// Those of the drafts that say what the pipeline that runs said.
    func folders(of drafts: [PipelineDraft]) -> [(path: FilePath, folder: ResolvedFolder)] {
        drafts.compactMap { draft in
            known(draft.name?.value ?? "", draft.source, draft.declaration).map { ($0.path, $0.folder) }
        }
    }

    private func known(_ name: String, _ source: FilePath, _ declaration: Declaration) -> Known? {
        known[name].flatMap { $0.source == source && $0.declaration == declaration ? $0 : nil }
    }
}
