/// Folders with the pipelines that own them, found without comparing every pair: a thousand pipelines are half a
/// million pairs.
struct FolderTree {
    private var at: [ResolvedFolder: [Int]] = [:]
    private var below: [ResolvedFolder: [Int]] = [:]
    private var identities: [[UInt64]: [Int]] = [:]

    mutating func add(_ folder: ResolvedFolder?, of owner: Int) {
        guard let folder else { return }
        at[folder, default: []].append(owner)
        for above in folder.ancestors { below[above, default: []].append(owner) }
        if let identity = folder.identity { identities[identity, default: []].append(owner) }
    }

    func owners(atOrBelow folder: ResolvedFolder) -> [Int] { (at[folder] ?? []) + (below[folder] ?? []) }

    /// Those whose folder contains this one, is in it, or is the same, under whatever path.
    func owners(near folder: ResolvedFolder) -> [Int] {
        owners(atOrBelow: folder) + folder.ancestors.flatMap { at[$0] ?? [] }
            + (folder.identity.flatMap { identities[$0] } ?? [])
    }
}
