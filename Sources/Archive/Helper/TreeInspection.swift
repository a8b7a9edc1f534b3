import Glibc
import SystemPackage

/// Inspects what a helper left before it is used. The helper checked all of this while it wrote, but it
/// parsed untrusted input and may be compromised.
struct TreeInspection {
    private let policy: UnpackPolicy
    /// The set-group-id bit that new folders have from the one above, where that has it.
    private let inherited: mode_t
    /// Names found so far of files that have several, by inode; and how many each has.
    private var names: [ino_t: (found: UInt, all: UInt)] = [:]

    /// Whether there is nothing below the folder but files, folders and links as they may come out of an archive.
    static func isHarmless(_ root: Int32, _ policy: UnpackPolicy) -> Bool {
        var status = stat()
        guard fstat(root, &status) == 0 else { return false }
        var inspection = TreeInspection(policy, status)
        let folder = openat(root, ".", O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        return folder >= 0 && inspection.passes(folder, depth: 0, length: 0)
            && inspection.names.values.allSatisfy { $0.found == $0.all }
    }

    private init(_ policy: UnpackPolicy, _ root: stat) {
        self.policy = policy
        inherited = root.st_mode & S_ISGID
    }

    /// The same for one folder, which is closed. It is never deeper than there are descriptors: `max_depth` is small.
    private mutating func passes(_ folder: Int32, depth: Int, length: Int) -> Bool {
        guard let stream = fdopendir(folder) else {
            close(folder)
            return false
        }
        defer { closedir(stream) }
        errno = 0
        while let entry = readdir(stream) {
            let name = withUnsafeBytes(of: &entry.pointee.d_name) { Array($0.prefix { $0 != 0 }) }
            if name != [0x2E], name != [0x2E, 0x2E] {
                guard passes(name, in: folder, depth: depth, length: length + name.count) else { return false }
            }
            errno = 0
        }
        return errno == 0
    }

    private mutating func passes(_ name: [UInt8], in folder: Int32, depth: Int, length: Int) -> Bool {
        let path = name.map { CChar(bitPattern: $0) } + [0]
        var status = stat()
        guard depth < policy.limits.depth, length <= policy.limits.path,
            fstatat(folder, path, &status, AT_SYMLINK_NOFOLLOW) == 0
        else { return false }
        let mode = status.st_mode & 0o7777
        switch status.st_mode & S_IFMT {
        case S_IFREG:
            if status.st_nlink > 1 {
                names[status.st_ino, default: (0, UInt(status.st_nlink))].found += 1
            }
            return mode & ~0o755 == 0
        case S_IFDIR:
            guard mode & ~(0o755 | inherited) == 0 else { return false }
            let below = openat(folder, path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            return below >= 0 && passes(below, depth: depth + 1, length: length + 1)
        case S_IFLNK:
            var target = [CChar](repeating: 0, count: Int(PATH_MAX))
            let count = readlinkat(folder, path, &target, target.count)
            guard policy.links == .inside, count > 0 else { return false }
            return EntryPath.staysInside(target.prefix(count).map { UInt8(bitPattern: $0) }, depth: depth)
        default: return false
        }
    }
}
