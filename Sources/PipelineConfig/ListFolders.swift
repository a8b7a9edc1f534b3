import Files
import PipelineKit
import SystemPackage

/// Where pipelines keep lists of digests: in every folder that one with `into: list` publishes to.
struct ListFolders {
    private var keepers = FolderTree()
    private var names: [Int: [FileName]] = [:]
    private let resolved: FolderResolver

    init(of drafts: [PipelineDraft], _ resolved: FolderResolver = FolderResolver()) {
        self.resolved = resolved
        for (index, draft) in drafts.enumerated() where !draft.lists.isEmpty {
            names[index] = draft.lists
            for folder in Self.published(draft) { keepers.add(resolved(folder), of: index) }
        }
    }

    /// The names that are lists' where this pipeline publishes, and where its failed originals go.
    func names(for draft: PipelineDraft) -> (published: ListNames, failed: ListNames) {
        guard !names.isEmpty else { return (ListNames(), ListNames()) }
        return (names(near: Self.published(draft)), names(near: draft.failed.map { [$0.value] } ?? []))
    }

    private func names(near folders: [FilePath]) -> ListNames {
        ListNames(Set(folders.flatMap { keepers.owners(near: resolved($0)) }).flatMap { names[$0] ?? [] })
    }

    private static func published(_ draft: PipelineDraft) -> [FilePath] {
        let targets = draft.stages.flatMap(\.templates).map(\.template.value.fixedFolder)
        return targets + (draft.processedFolder.map { [$0.value] } ?? [])
    }
}
