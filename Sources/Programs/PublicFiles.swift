import Glibc
import SystemPackage

/// What everybody may read. Landlock opens a folder with all that is in it, so one that holds anything closed is taken
/// apart.
enum PublicFiles {
    /// How far down it looks; what is deeper counts as closed.
    private static let mostDepth = 16

    private enum Finding {
        /// With all that it holds; or what is not a file and needs no leave, such as a link.
        case open
        case closed
        /// The paths in it that are open.
        case partly([String])
    }

    /// The files and folders that everybody may read with all that they hold, as few as say it: the folder itself, or
    /// some below it. No symbolic link is followed.
    static func list(below folder: FilePath) -> [FilePath] {
        let descriptor = folder.withPlatformString { open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) }
        switch descriptor < 0 ? .closed : look(into: descriptor, depth: 0) {
        case .open: return [folder]
        case .closed: return []
        case .partly(let paths): return paths.map { folder.appending($0) }
        }
    }

    /// Looks into an open folder, and closes it.
    private static func look(into folder: Int32, depth: Int) -> Finding {
        guard let stream = fdopendir(folder) else {
            close(folder)
            return .closed
        }
        defer { closedir(stream) }
        var status = stat()
        let everybody = S_IROTH | S_IXOTH
        guard fstat(folder, &status) == 0, status.st_mode & everybody == everybody, depth < mostDepth else {
            return .closed
        }
        var open: [String] = []
        var isWhole = true
        while let entry = readdir(stream) {
            withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) { name in
                    guard strcmp(name, ".") != 0, strcmp(name, "..") != 0 else { return }
                    // A name that is not text cannot be said again as it is.
                    guard let text = String(validatingCString: name) else {
                        isWhole = false
                        return
                    }
                    switch look(at: name, in: folder, depth: depth) {
                    case .open: open.append(text)
                    case .closed: isWhole = false
                    case .partly(let paths):
                        isWhole = false
                        open += paths.map { text + "/" + $0 }
                    }
                }
            }
        }
        return isWhole ? .open : .partly(open)
    }

    private static func look(at name: UnsafePointer<CChar>, in folder: Int32, depth: Int) -> Finding {
        var status = stat()
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0 else { return .closed }
        switch status.st_mode & S_IFMT {
        case S_IFLNK: return .open
        case S_IFREG: return status.st_mode & S_IROTH != 0 ? .open : .closed
        case S_IFDIR:
            let below = openat(folder, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            return below < 0 ? .closed : look(into: below, depth: depth + 1)
        default: return .closed
        }
    }
}
