import SystemPackage

/// The folders of all pipelines.
struct FolderIndex {
    struct Folders {
        var inbox: ResolvedFolder?
        var processed: ResolvedFolder?
        var failed: ResolvedFolder?
        /// Where claimed jobs live; `work` only where it is set.
        var area: ResolvedFolder?
        var work: ResolvedFolder?
    }

    let folders: [Folders]
    /// Every place where claimed jobs live, once.
    let areas: Set<ResolvedFolder>
    /// Every folder that originals end in, except inboxes: originals move on from there.
    let ends: Set<ResolvedFolder>
    private let all: FolderTree
    /// Inboxes and work folders that are set: no two of these may meet.
    private let guarded: FolderTree
    private let inboxes: [ResolvedFolder: [Int]]
    private let names: [String: [Int]]

    init(of drafts: [PipelineDraft], _ resolver: FolderResolver = FolderResolver()) {
        func resolved(_ folder: FilePath?) -> ResolvedFolder? { folder.map { resolver($0) } }
        var (all, guarded) = (FolderTree(), FolderTree())
        var inboxes: [ResolvedFolder: [Int]] = [:]
        var names: [String: [Int]] = [:]
        folders = drafts.enumerated().map { index, draft in
            let folders = Folders(
                inbox: resolved(draft.inbox?.value), processed: resolved(draft.processedFolder?.value),
                failed: resolved(draft.failed?.value), area: resolved(draft.workArea),
                work: resolved(draft.work?.value))
            for folder in [folders.inbox, folders.processed, folders.failed, folders.area] {
                all.add(folder, of: index)
            }
            for folder in [folders.inbox, folders.work] { guarded.add(folder, of: index) }
            if let inbox = folders.inbox { inboxes[inbox, default: []].append(index) }
            if let name = draft.name { names[name.value, default: []].append(index) }
            return folders
        }
        areas = Set(folders.compactMap(\.area))
        ends = Set(folders.flatMap { [$0.processed, $0.failed].compactMap { $0 } }).subtracting(inboxes.keys)
        (self.all, self.guarded, self.inboxes, self.names) = (all, guarded, inboxes, names)
    }

    /// The pipelines before this one whose name, inbox or work folder may be in its way.
    func neighbours(before index: Int, named name: String?) -> [Int] {
        let own = folders[index]
        let near = [own.inbox, own.work].compactMap { $0 }.flatMap { guarded.owners(near: $0) }
        return Set(near + (name.flatMap { names[$0] } ?? [])).filter { $0 < index }.sorted()
    }

    /// The pipelines that have a folder there or below, in order.
    func owners(atOrBelow folder: ResolvedFolder) -> [Int] { Set(all.owners(atOrBelow: folder)).sorted() }

    /// The pipelines whose inbox it is, in order.
    func pipelines(withInbox folder: ResolvedFolder) -> [Int] { inboxes[folder] ?? [] }
}
