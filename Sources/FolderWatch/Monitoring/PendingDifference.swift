import Files

/// What became different since a listener was told last. Pure: of each name it keeps what was told and what is there
/// now, so that it never grows beyond the names, however long nobody listens.
struct PendingDifference: Merging {
    private var names: [FileName: (told: FolderEntry?, now: FolderEntry?)] = [:]
    /// Whether the listing is complete, so that there is something to tell at all.
    private var isComplete = false
    private var hasTold = false

    /// An entry became another one; nil stands for none.
    mutating func note(_ name: FileName, from old: FolderEntry?, to new: FolderEntry?) {
        let told = names[name].map(\.told) ?? old
        names[name] = told == new ? nil : (told, new)
    }

    /// All that is there was noted.
    mutating func complete() { isComplete = true }

    mutating func take() -> FolderDifference? {
        guard isComplete, !names.isEmpty || !hasTold else { return nil }
        var (inserted, deleted, changed): ([FolderEntry], [FolderEntry], [FolderEntry]) = ([], [], [])
        for (told, now) in names.values {
            switch (told, now) {
            case (nil, let now?): inserted.append(now)
            case (let told?, nil): deleted.append(told)
            case (.some, let now?): changed.append(now)
            case (nil, nil): continue
            }
        }
        defer {
            names = [:]
            hasTold = true
        }
        return FolderDifference(
            inserted: inserted.sortedByName, deleted: deleted.sortedByName, changed: changed.sortedByName,
            isInitial: !hasTold)
    }
}
