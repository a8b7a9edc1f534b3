package import Files
package import SystemPackage

/// The entries below a folder.
package struct FileTree: Sendable {
    /// The regular files, by path bytes.
    package var files: [TreeFile] = []
    /// The folders below it, each before its contents; without the top one.
    package var folders: [FilePath] = []
    /// Symbolic links.
    package var links: [FilePath] = []
    /// FIFOs, sockets and devices.
    package var specials: [FilePath] = []

    /// A tree of these regular files alone.
    package init(files: [TreeFile] = []) { self.files = files }

    /// The empty folders.
    package var emptyFolders: [FilePath] {
        let used = Set((files.map(\.relative) + folders + links + specials).map { $0.removingLastComponent() })
        return folders.filter { !used.contains($0) }
    }

    /// Lists everything below a folder; symbolic links are listed, never followed.
    package static func list(_ root: borrowing Folder) throws(IOError) -> FileTree {
        var tree = FileTree()
        var pending: [FilePath] = [FilePath()]
        while let relative = pending.popLast() {
            let folder = try root.folder(relative)
            try folder.forEachEntry { (name, kind) throws(IOError) in
                let entry = relative.appending(name)
                switch kind == .unknown ? try root.kind(of: entry) : kind {
                case .folder:
                    tree.folders.append(entry)
                    pending.append(entry)
                case .symbolicLink: tree.links.append(entry)
                case .regular: tree.files.append(TreeFile(entry))
                case nil: break
                default: tree.specials.append(entry)
                }
            }
        }
        tree.files.sort()
        return tree
    }

    /// The same, for a folder's path.
    package static func list(_ root: FilePath) throws(IOError) -> FileTree { try list(try Folder.open(root)) }
}
