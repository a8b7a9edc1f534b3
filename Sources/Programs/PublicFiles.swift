import Glibc
import SystemPackage

/// What everybody may read. Landlock opens a folder with all that is in it, so one that holds anything closed is taken
/// apart.
enum PublicFiles {
    /// How far down it looks; what is deeper counts as closed.
    private static let mostDepth = 16

    /// The files and folders that everybody may read with all that they hold, as few as say it: the folder itself, or
    /// some below it. No symbolic link is followed.
    static func list(below folder: FilePath) -> [FilePath] { look(at: folder, depth: 0).open }

    private static func look(at path: FilePath, depth: Int) -> (open: [FilePath], isWhole: Bool) {
        var status = stat()
        guard depth < mostDepth, path.withPlatformString({ lstat($0, &status) }) == 0 else { return ([], false) }
        switch status.st_mode & S_IFMT {
        case S_IFLNK: return ([], true)
        case S_IFREG: return status.st_mode & S_IROTH != 0 ? ([path], true) : ([], false)
        case S_IFDIR: break
        default: return ([], false)
        }
        let everybody = S_IROTH | S_IXOTH
        guard status.st_mode & everybody == everybody, let names = names(in: path) else { return ([], false) }
        let found = names.map { look(at: path.appending($0), depth: depth + 1) }
        return found.allSatisfy(\.isWhole) ? ([path], true) : (found.flatMap(\.open), false)
    }

    private static func names(in folder: FilePath) -> [FilePath.Component]? {
        guard let stream = folder.withPlatformString({ opendir($0) }) else { return nil }
        defer { closedir(stream) }
        var names: [FilePath.Component] = []
        while let entry = readdir(stream) {
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: Int(NAME_MAX) + 1) {
                    FilePath.Component(platformString: $0)
                }
            }
            if let name, name.kind == .regular { names.append(name) }
        }
        return names
    }
}
