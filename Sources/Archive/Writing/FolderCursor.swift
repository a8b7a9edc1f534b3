import CLinux
import Glibc
import SystemPackage

/// Stands in one folder below a root and walks to others, without ever following a symbolic link or leaving the root
/// (openat2 with RESOLVE_BENEATH and RESOLVE_NO_SYMLINKS). Entries that follow one another mostly lie in the same
/// folder, and then walking costs nothing.
struct FolderCursor: ~Copyable {
    private static let flags = O_RDONLY | O_DIRECTORY

    private let root: Int32
    private let mode: mode_t
    private let budget: Budget
    private var current: Int32
    private var path: ArraySlice<CChar> = []

    /// Stands in the root, whose descriptor must stay open. `mode`: that of folders it makes, each of which counts as
    /// an entry: archives need not list them.
    init(root: Int32, mode: mode_t, _ budget: Budget) {
        self.root = root
        self.mode = mode
        self.budget = budget
        current = root
    }

    deinit {
        if current != root { close(current) }
    }

    /// Walks to a folder, making those that are missing, and gives its descriptor: valid until the next walk.
    mutating func enter(_ wanted: ArraySlice<CChar>, for entry: [UInt8]) throws(ArchiveError) -> Int32 {
        if wanted == path { return current }
        if wanted.isEmpty {
            stand(in: root, wanted)
            return root
        }
        var found = dm_open_beneath(root, Array(wanted) + [0], Self.flags, 0)
        if found < 0, errno == ENOENT { found = try make(wanted, for: entry) }
        guard found >= 0 else { throw Self.failure(entry) }
        stand(in: found, wanted)
        return found
    }

    /// Walks to a folder if it is there; else says so, and stays.
    mutating func find(_ wanted: ArraySlice<CChar>) -> Int32? {
        if wanted == path { return current }
        let found = wanted.isEmpty ? root : dm_open_beneath(root, Array(wanted) + [0], Self.flags, 0)
        if found < 0 { return nil }
        stand(in: found, wanted)
        return found
    }

    func another() -> FolderCursor { FolderCursor(root: root, mode: mode, budget) }

    private mutating func stand(in folder: Int32, _ wanted: ArraySlice<CChar>) {
        if current != root, current != folder { close(current) }
        current = folder
        path = wanted
    }

    /// Makes what is missing of a path and opens its last folder.
    private func make(_ wanted: ArraySlice<CChar>, for entry: [UInt8]) throws(ArchiveError) -> Int32 {
        var folder = root
        defer { if folder != root { close(folder) } }
        for name in wanted.split(separator: CChar(bitPattern: UInt8(ascii: "/"))) {
            let component = Array(name) + [0]
            if mkdirat(folder, component, mode) == 0 {
                try budget.beginUnlisted(for: entry)
            } else if errno != EEXIST {
                throw Self.failure(entry)
            }
            // What was there already shows when it is opened.
            let next = dm_open_beneath(folder, component, Self.flags, 0)
            guard next >= 0 else { throw Self.failure(entry) }
            if folder != root { close(folder) }
            folder = next
        }
        defer { folder = root }
        return folder
    }

    private static func failure(_ entry: [UInt8]) -> ArchiveError {
        let error = Errno(rawValue: errno)
        if error == .notDirectory || error == .tooManySymbolicLinkLevels {
            return .conflict(entry, "lies in a folder that is also a file")
        }
        return .system(action: "create the folder", entry: entry, errno: error)
    }
}
