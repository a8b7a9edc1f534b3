import Files

/// What has come to rest and a listener has not been told. Pure: it never grows beyond what is there.
struct SettledNews: Merging {
    /// In the order in which they came to rest; the first of them, so many, have been told.
    private var settled: [FolderEntry] = []
    private var told = 0
    private var folder: [FolderEntry]?

    mutating func note(_ entry: FolderEntry) { settled.append(entry) }

    mutating func note(_ contents: [FolderEntry]) { folder = contents }

    /// These changed before they were told, and so did the folder.
    mutating func forget(_ names: Set<FileName>) {
        folder = nil
        settled.removeFirst(told)
        told = 0
        settled.removeAll { names.contains($0.fileName) }
    }

    mutating func take() -> SettledFolder.Event? {
        guard told == settled.count else {
            defer { told += 1 }
            return .settled(settled[told])
        }
        (settled, told) = ([], 0)
        defer { folder = nil }
        return folder.map { .settledFolder($0) }
    }
}
