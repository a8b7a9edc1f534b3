import Glibc
import SystemPackage

/// Stands in one folder below a root and walks to others, without ever following a symbolic link. Entries that follow
/// one another mostly lie in the same folder, and then walking costs nothing.
struct FolderCursor: ~Copyable {
    private static let flags = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC

    private let root: Int32
    private var folder: Int32
    private var components: [EntryPath.Component] = []

    /// Stands in the root, whose descriptor must stay open.
    init(root: Int32) {
        self.root = root
        folder = root
    }

    deinit {
        if folder != root { close(folder) }
    }

    /// Walks to a folder, making those that are missing, and gives its descriptor: valid until the next walk.
    mutating func enter(_ wanted: [EntryPath.Component], for entry: [UInt8]) throws(ArchiveError) -> Int32 {
        if wanted == components { return folder }
        if !wanted.starts(with: components) { leave() }
        for component in wanted[components.count...] {
            step(to: try Self.open(component, in: folder, for: entry), component)
        }
        return folder
    }

    /// Walks to a folder if it is there; else stops on the way and says so.
    mutating func find(_ wanted: [EntryPath.Component]) -> Bool {
        leave()
        for component in wanted {
            let next = openat(folder, component, Self.flags)
            if next < 0 { return false }
            step(to: next, component)
        }
        return true
    }

    private mutating func step(to next: Int32, _ component: EntryPath.Component) {
        if folder != root { close(folder) }
        folder = next
        components.append(component)
    }

    /// Another cursor below the same root.
    func another() -> FolderCursor { FolderCursor(root: root) }

    /// The folder that the cursor stands in.
    var descriptor: Int32 { folder }

    /// Goes back to the root.
    private mutating func leave() {
        if folder != root { close(folder) }
        folder = root
        components = []
    }

    private static func open(_ name: EntryPath.Component, in parent: Int32, for entry: [UInt8]) throws(ArchiveError)
        -> Int32
    {
        var folder = openat(parent, name, flags)
        if folder < 0, errno == ENOENT {
            guard mkdirat(parent, name, 0o777) == 0 || errno == EEXIST else {
                throw .system(action: "create the folder", entry: entry, errno: Errno(rawValue: errno))
            }
            folder = openat(parent, name, flags)
        }
        guard folder >= 0 else {
            if errno == ENOTDIR || errno == ELOOP { throw .conflict(entry, "lies in a folder that is also a file") }
            throw .system(action: "open the folder", entry: entry, errno: Errno(rawValue: errno))
        }
        return folder
    }
}
