package import Files

/// Names in an inbox that are not taken, for people who wonder why: some of them, as many as there may be. Pure.
package struct UntakenNames: Sendable {
    /// How many are kept.
    package static let most = 1000

    /// Since when each is known.
    package private(set) var names: [DropPath: MonotonicTime] = [:]
    /// Whether there were more at some time.
    package private(set) var isCut = false

    package init() {}

    package mutating func saw(_ name: FileName, in folder: InboxFolder, at now: MonotonicTime) {
        let path = DropPath(name, in: folder)
        guard names[path] == nil else { return }
        if names.count < Self.most { names[path] = now } else { isCut = true }
    }

    package mutating func lost(_ name: FileName, in folder: InboxFolder) {
        if names.removeValue(forKey: DropPath(name, in: folder)) != nil, names.isEmpty { isCut = false }
    }

    /// A folder was listed: only these are in it.
    package mutating func listed(_ folder: InboxFolder, _ found: [FileName], at now: MonotonicTime) {
        if !names.isEmpty {
            let found = Set(found)
            forget { $0.folder == folder && !found.contains($0.name) }
        }
        for name in found { saw(name, in: folder, at: now) }
    }

    /// A folder is gone.
    package mutating func forget(_ folder: InboxFolder) {
        if !names.isEmpty { forget { $0.folder == folder } }
    }

    private mutating func forget(where isGone: (DropPath) -> Bool) {
        for path in names.keys where isGone(path) { names[path] = nil }
        if names.isEmpty { isCut = false }
    }
}
