import CLinux
import Glibc
package import SystemPackage

extension Folder {
    /// Removes a file, or a folder with all it holds; symbolic links go themselves, never what they point to. What is
    /// not there counts as removed.
    package static func remove(_ path: FilePath) throws(IOError) {
        if path.withPlatformString({ unlink($0) }) == 0 { return }
        switch Errno.last {
        case .noSuchFileOrDirectory: return
        case .isDirectory: break
        case let error: throw IOError("remove", path, error)
        }
        if path.withPlatformString({ rmdir($0) }) == 0 { return }
        // Folders from archives may have come without the right to change them.
        _ = path.withPlatformString { chmod($0, 0o700) }
        try removeContents(of: OpenFile.openFolder(path))
        guard path.withPlatformString({ rmdir($0) }) == 0 || Errno.last == .noSuchFileOrDirectory else {
            throw IOError("remove", path, .last)
        }
    }

    /// Empties an open folder. Trees can be deeper than paths are long and than there are descriptors, so folders
    /// within folders are brought up here first: no more than two are ever open.
    private static func removeContents(of folder: borrowing OpenFile) throws(IOError) {
        var number = 0
        var pending = try names(in: folder)
        while let name = pending.popLast() {
            guard try !removeEntry(name, in: folder) else { continue }
            let below = try OpenFile.open(name, in: folder, O_RDONLY | O_DIRECTORY)
            for inner in try names(in: below) where try !removeEntry(inner, in: below) {
                pending.append(try raise(inner, from: below, to: folder, &number))
            }
            pending.append(name)
        }
    }

    /// Removes a file or an empty folder; false for a folder that holds something, which can then be changed.
    private static func removeEntry(_ name: FileName, in folder: borrowing OpenFile) throws(IOError) -> Bool {
        let parent = folder.descriptor
        if name.withCString({ unlinkat(parent, $0, 0) }) == 0 { return true }
        if Errno.last == .isDirectory {
            if name.withCString({ unlinkat(parent, $0, AT_REMOVEDIR) }) == 0 { return true }
            if Errno.last == .directoryNotEmpty || Errno.last == .fileExists {
                _ = name.withCString { fchmodat(parent, $0, 0o700, 0) }
                return false
            }
        }
        if Errno.last == .noSuchFileOrDirectory { return true }
        throw IOError("remove", folder.path.appending(name), .last)
    }

    /// Moves a folder up, under a name that is not taken there; gives that name.
    private static func raise(
        _ name: FileName, from below: borrowing OpenFile, to folder: borrowing OpenFile, _ number: inout Int
    ) throws(IOError) -> FileName {
        let (source, target) = (below.descriptor, folder.descriptor)
        while true {
            number += 1
            guard let free = FileName(".removed-\(number)") else { continue }
            let moved = name.withCString { from in free.withCString { dm_rename_noreplace(source, from, target, $0) } }
            if moved == 0 { return free }
            guard Errno.last == .fileExists else { throw IOError("remove", below.path.appending(name), .last) }
        }
    }
}
