import CLinux
package import Files
import Glibc
package import SystemPackage

extension Folder {
    /// Removes a file, or a folder with all it holds, below this folder; symbolic links go themselves, never what they
    /// point to. What is not there counts as removed. A tree may be deeper than there are descriptors.
    package func remove(_ relative: FilePath) throws(IOError) {
        do throws(IOError) {
            try within(relative) { (parent, name) throws(IOError) in
                var removal = Removal()
                try removal.remove(name, in: parent)
            }
        } catch {
            guard error.errno != .noSuchFileOrDirectory else { return }
            throw error
        }
    }

    /// The same by a whole path.
    package static func remove(_ path: FilePath) throws(IOError) {
        guard let name = path.lastName else { throw IOError("remove", path, .invalidArgument) }
        let above = path.removingLastComponent()
        do throws(IOError) {
            let parent = try OpenFile.open(above.isEmpty ? "." : above, O_RDONLY | O_DIRECTORY)
            var removal = Removal()
            try removal.remove(name, in: parent)
        } catch {
            guard error.errno != .noSuchFileOrDirectory else { return }
            throw error
        }
    }
}

/// Removes a tree from descriptor to descriptor. Folders too deep for one descriptor per level are moved up
/// first.
private struct Removal {
    private var lifted = 0

    /// The most folders that are open at a time.
    private static let deepest = 64

    mutating func remove(_ name: FileName, in parent: borrowing OpenFile) throws(IOError) {
        guard try !removeAtOnce(name, parent) else { return }
        let top = try Self.openFolder(name, parent)
        var before = lifted
        repeat {
            before = lifted
            try empty(top, 1, below: top.descriptor)
            // Folders that were moved up are now in the top folder.
        } while lifted > before
        try Self.removeEmpty(name, parent)
    }

    private mutating func empty(_ folder: borrowing OpenFile, _ depth: Int, below top: Int32) throws(IOError) {
        for name in try Folder.names(in: folder) {
            guard try !removeAtOnce(name, folder) else { continue }
            if depth >= Self.deepest {
                try lift(name, folder, to: top)
            } else {
                try empty(try Self.openFolder(name, folder), depth + 1, below: top)
                try Self.removeEmpty(name, folder)
            }
        }
    }

    /// False for a folder that is not empty.
    private func removeAtOnce(_ name: FileName, _ parent: borrowing OpenFile) throws(IOError) -> Bool {
        let folder = parent.descriptor
        if name.withCString({ unlinkat(folder, $0, 0) }) == 0 { return true }
        switch Errno.last {
        case .noSuchFileOrDirectory: return true
        case .isDirectory:
            if name.withCString({ unlinkat(folder, $0, AT_REMOVEDIR) }) == 0 { return true }
            return Self.isGone(name, parent)
        case let error:
            if Self.isGone(name, parent) { return true }
            throw IOError("remove", parent.path.appending(name), error)
        }
    }

    /// A call that failed may have taken effect.
    private static func isGone(_ name: FileName, _ parent: borrowing OpenFile) -> Bool {
        let folder = parent.descriptor
        var status = stat()
        return name.withCString { dm_status_now(folder, $0, &status) } != 0 && Errno.last == .noSuchFileOrDirectory
    }

    private static func removeEmpty(_ name: FileName, _ parent: borrowing OpenFile) throws(IOError) {
        let folder = parent.descriptor
        guard name.withCString({ unlinkat(folder, $0, AT_REMOVEDIR) }) != 0 else { return }
        let error = Errno.last
        guard !isGone(name, parent) else { return }
        throw IOError("remove", parent.path.appending(name), error)
    }

    /// Folders from archives may lack write permission.
    private static func openFolder(_ name: FileName, _ parent: borrowing OpenFile) throws(IOError) -> OpenFile {
        let flags = O_RDONLY | O_DIRECTORY
        do throws(IOError) {
            let folder = try OpenFile.open(name, in: parent, flags)
            if try folder.status().st_mode & S_IRWXU != S_IRWXU { _ = fchmod(folder.descriptor, S_IRWXU) }
            return folder
        } catch {
            guard error.errno == .permissionDenied else { throw error }
        }
        let closed = try OpenFile.open(name, in: parent, OpenFile.pathOnly | O_DIRECTORY)
        // The only way to change the mode of a file that cannot be opened, without its name (proc(5), /proc/self/fd).
        _ = chmod("/proc/self/fd/\(closed.descriptor)", S_IRWXU)
        return try OpenFile.open(name, in: parent, flags)
    }

    private mutating func lift(_ name: FileName, _ folder: borrowing OpenFile, to top: Int32) throws(IOError) {
        let from = folder.descriptor
        while true {
            lifted += 1
            let moved = name.withCString { old in ".lifted-\(lifted)".withCString { renameat(from, old, top, $0) } }
            if moved == 0 { return }
            switch Errno.last {
            // It is the name of something in the tree.
            case .directoryNotEmpty, .fileExists, .notDirectory: continue
            case let error: throw IOError("remove", folder.path.appending(name), error)
            }
        }
    }
}
