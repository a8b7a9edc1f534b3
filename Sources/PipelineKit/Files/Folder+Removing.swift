import Glibc
package import SystemPackage

extension Folder {
    /// Removes a file, or a folder with all it holds; symbolic links go themselves, never what they point to. What is
    /// not there counts as removed. A tree may be deeper than paths can be long, and than there are descriptors.
    package static func remove(_ path: FilePath) throws(IOError) {
        var removal = Removal(top: path)
        try removal.remove(path)
    }
}

/// A tree on its way out. It goes by paths, names first, so that no descriptor is held on the way down; what lies too
/// deep for a path is moved up before.
private struct Removal {
    let top: FilePath
    private var lifted = 0

    /// The longest path to go down from, in bytes: with any name below it the kernel still takes it (PATH_MAX is 4096).
    private static let longest = 3500

    init(top: FilePath) { self.top = top }

    mutating func remove(_ path: FilePath) throws(IOError) {
        guard try !removeAtOnce(path) else { return }
        var before = lifted
        repeat {
            before = lifted
            for name in try Folder.names(in: path) {
                let entry = path.appending(name)
                if path != top, entry.bytes.count > Self.longest {
                    try lift(entry)
                } else {
                    try remove(entry)
                }
            }
            // What was lifted lies in the top folder now.
        } while path == top && lifted > before
        guard path.withPlatformString({ rmdir($0) }) == 0 || Errno.last == .noSuchFileOrDirectory else {
            throw IOError("remove", path, .last)
        }
    }

    /// False for a folder that holds something; it may be changed then.
    private func removeAtOnce(_ path: FilePath) throws(IOError) -> Bool {
        if path.withPlatformString({ unlink($0) }) == 0 { return true }
        switch Errno.last {
        case .noSuchFileOrDirectory: return true
        case .isDirectory: break
        case let error: throw IOError("remove", path, error)
        }
        if path.withPlatformString({ rmdir($0) }) == 0 { return true }
        // Folders from archives may have come without the right to change them.
        _ = path.withPlatformString { chmod($0, 0o700) }
        return false
    }

    private mutating func lift(_ path: FilePath) throws(IOError) {
        guard try !removeAtOnce(path) else { return }
        while true {
            lifted += 1
            let place = top.appending(".lifted-\(lifted)")
            if path.withPlatformString({ old in place.withPlatformString { rename(old, $0) } }) == 0 { return }
            switch Errno.last {
            // It is the name of something in the tree.
            case .directoryNotEmpty, .fileExists, .notDirectory: continue
            case let error: throw IOError("remove", path, error)
            }
        }
    }
}
