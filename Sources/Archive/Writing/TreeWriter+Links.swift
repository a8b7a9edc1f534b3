import Glibc
import SystemPackage

extension TreeWriter {
    /// Whether an entry that is a link is to be made; counts it where it is not, and throws where no link is taken.
    mutating func takesLink(_ path: EntryPath) throws(ArchiveError) -> Bool {
        switch policy.links {
        case .inside: return true
        case .skip:
            deferred.skippedLinks += 1
            return false
        case .fail: throw .unsafe(path.stored, "is a link, which `links: fail` rejects")
        }
    }

    /// Checks a symbolic link and keeps it for the end.
    mutating func addLink(_ path: EntryPath, to target: [UInt8]) throws(ArchiveError) {
        guard try takesLink(path) else { return }
        try path.checkLinkTarget(target, policy.limits)
        guard !path.isTop else { throw .conflict(path.stored, "is a symbolic link in place of the top folder") }
        // Its name and target are remembered, so they count.
        try budget.charge(Int64(target.count), total: Int64(target.count), to: path.stored)
        if replaces { replace(path, in: try cursor.enter(path.folder, for: path.stored)) }
        deferred.links.append((path.bytes, target, turns[path.bytes] ?? 0))
    }

    /// Makes a symbolic link, once all files are written. It gets no time: that takes a path, which a confined process
    /// is not trusted with.
    mutating func makeLink(_ path: EntryPath, to target: [UInt8]) throws(ArchiveError) {
        let target = target.map { CChar(bitPattern: $0) } + [0]
        let folder = try cursor.enter(path.folder, for: path.stored)
        if path.withName({ symlinkat(target, folder, $0) }) != 0 {
            let error = Errno(rawValue: errno)
            guard error == .fileExists else {
                throw .system(action: "create the link", entry: path.stored, errno: error)
            }
            let isLink = kind(of: path, in: folder) == S_IFLNK
            throw .conflict(
                path.stored, isLink ? "is stored twice" : "is a symbolic link and a file or folder at once")
        }
    }

    /// Makes another name for a file that was extracted before. No symbolic link exists yet, so none can stand in
    /// between. Gives false where links are left out.
    mutating func makeHardLink(_ path: EntryPath, to target: [UInt8], mode: mode_t) throws(ArchiveError) -> Bool {
        guard try takesLink(path) else { return false }
        guard !path.isTop else { throw .conflict(path.stored, "is a hard link in place of the top folder") }
        try refusePrivileges(mode, path)
        let source: EntryPath
        do throws(ArchiveError) {
            source = try EntryPath(target, policy.limits)
        } catch {
            throw .unsafe(path.stored, "is a hard link that leads out of the archive's folder")
        }
        guard !source.isTop else { throw .unsafe(path.stored, "is a hard link to a folder") }
        if source.isSame(as: path) { throw .conflict(path.stored, "is a hard link to itself") }
        // linkat needs both folders at once; the cursor has one.
        var sourceCursor = cursor.another()
        guard let sourceFolder = sourceCursor.find(source.folder), kind(of: source, in: sourceFolder) == S_IFREG else {
            throw .unsafe(path.stored, "is a hard link to something that is not an earlier file of the archive")
        }
        let folder = try cursor.enter(path.folder, for: path.stored)
        replace(path, in: folder)
        let linked = source.withName { from in path.withName { linkat(sourceFolder, from, folder, $0, 0) } }
        guard linked == 0 else {
            let error = Errno(rawValue: errno)
            if error == .fileExists { throw .conflict(path.stored, "is stored twice") }
            if error == .tooManyLinks {
                throw .limit(
                    path.stored, "exceeds the number of hard links to one file that the file system allows",
                    remedy: "Recreate the archive with copies instead of some links.")
            }
            throw .system(action: "link", entry: path.stored, errno: error)
        }
        return true
    }
}
