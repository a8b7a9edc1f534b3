import Files
import Glibc
import PipelineKit
import SystemPackage

/// Whether all that is in a folder was there when that was left: the kernel notes whatever is done to a file or a
/// folder later (ctime), and nobody can set that back. What was done in the same tick of its clock may have been later.
struct TreeCheck {
    private let moved: FileTime

    /// The deepest that is looked at; what is deeper counts as changed.
    private static let deepest = 512

    /// `moved`: when it was left.
    init(until moved: FileTime) { self.moved = moved }

    /// What is mounted in it is nobody's to remove.
    func isAsLeft(_ name: FileName, in parent: borrowing OpenFile) throws(IOError) -> Bool {
        let top = try OpenFile.open(name, in: parent, O_RDONLY | O_DIRECTORY)
        return try isAsLeft(top, depth: 0, on: top.mount)
    }

    private func isAsLeft(
        _ folder: borrowing OpenFile, depth: Int, on mount: Int64
    ) throws(IOError) -> Bool {
        guard depth < Self.deepest, folder.mount == mount else { return false }
        for name in try Folder.names(in: folder) {
            guard let status = FileStatus.of(name, in: folder) else {
                throw IOError("examine", folder.path.appending(name), .last)
            }
            guard FileTime(status.st_ctim) < moved else { return false }
            guard FileKind(mode: status.st_mode) == .folder else { continue }
            let below = try OpenFile.open(name, in: folder, O_RDONLY | O_DIRECTORY)
            guard try isAsLeft(below, depth: depth + 1, on: mount) else { return false }
        }
        return true
    }
}
