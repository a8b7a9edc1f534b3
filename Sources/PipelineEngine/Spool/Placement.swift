package import Files
package import Journal
package import PipelineKit
package import SystemPackage

/// One thing that is to get its final name at settlement: what, where, under which name, with what beside it.
package struct Placement: Sendable {
    /// Whether it is an output or the original.
    package let role: Intent.Role
    /// The file or folder, in the job's folder; nil where somebody took it from there, so that only the report is left
    /// to be placed.
    package let source: FilePath?
    /// The folder it goes into.
    package var folder: FilePath
    /// The names of folders below `folder` that it goes into, made where they are missing: for an original those that
    /// it lay in in the inbox.
    package var subfolders: [FileName] = []
    /// The name it is to have, if that is free.
    package let name: FileName
    /// Whether it is a folder.
    package var isFolder: Bool
    /// Files that are written beside it, under its final name.
    package let sidecars: [Sidecar]
    /// Whether it is the original of a job that failed, which its sender has to be able to fetch.
    var isFailure = false
    /// What happens where the name is taken.
    package var onConflict: Pipeline.ConflictPolicy
    /// The names of lists where it goes, which it does not get.
    var lists = ListNames()
    /// The drop's marker, which goes along under the name that fits the final one.
    package var marker: MarkerPlacement?

    /// The placement with `folder` the very one that it goes into. Where something that is no folder of ours has the
    /// name that one needs below the configured folder, ours steps aside: `2026.2`; and so it does where a list has it.
    func inSubfolders(_ open: inout OpenFolders) throws(IOError) -> Placement {
        if subfolders.isEmpty, open.holds(folder) { return self }
        var placement = self
        placement.folder = open.root(of: folder)
        placement.subfolders = []
        let depth = placement.folder.components.count
        let below = folder.components.dropFirst(depth).compactMap { FileName($0) }
        var isMissing = false
        for name in below + subfolders {
            var number = 1
            var path = placement.folder.appending(name)
            while true {
                if !isList(path) {
                    if isMissing { break }
                    let found = try open.look(path)
                    if case .open = found { break }
                    if case .missing = found {
                        isMissing = true
                        break
                    }
                }
                if role == .output, onConflict == .fail { throw IOError("publish", path, .fileExists) }
                number += 1
                path = placement.folder.appending(name.numbered(number, isFolder: true))
            }
            placement.folder = path
        }
        return placement
    }

    /// Whether it is the path of a list.
    func isList(_ path: FilePath) -> Bool { !lists.isEmpty && (path.lastName.map(lists.contains) ?? false) }
}
