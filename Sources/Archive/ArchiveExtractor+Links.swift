import Glibc
import SystemPackage

extension ArchiveExtractor {
    /// Makes another name for a file that was extracted before. No symbolic link exists yet, so none can stand in
    /// between.
    mutating func makeHardLink(_ path: EntryPath, to target: [UInt8], _ entry: ArchiveEntry) throws(ArchiveError) {
        guard let name = path.name else { throw .conflict(entry.path, "is a hard link in the place of the top folder") }
        guard entry.mode & 0o7000 == 0 else {
            throw .unsafe(entry.path, "has the set-user-id, set-group-id or sticky bit")
        }
        let source: EntryPath
        do throws(ArchiveError) {
            source = try EntryPath(target)
        } catch {
            throw .unsafe(entry.path, "is a hard link that leads out of the archive's folder")
        }
        guard let sourceName = source.name else { throw .unsafe(entry.path, "is a hard link to a folder") }
        if source.components == path.components { throw .conflict(entry.path, "is a hard link to itself") }
        // linkat needs both folders at once; the cursor has one.
        var sourceCursor = cursor.another()
        guard sourceCursor.find(source.folders) else { throw missingTarget(entry) }
        let sourceFolder = sourceCursor.descriptor
        var status = stat()
        guard fstatat(sourceFolder, sourceName, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG
        else {
            throw missingTarget(entry)
        }
        let folder = try cursor.enter(path.folders, for: entry.path)
        if linkat(sourceFolder, sourceName, folder, name, 0) == 0 { return }
        guard errno == EEXIST else { throw .system(action: "link", entry: entry.path, errno: Errno(rawValue: errno)) }
        guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG else {
            throw .conflict(entry.path, "is a file and a folder at once")
        }
        guard unlinkat(folder, name, 0) == 0, linkat(sourceFolder, sourceName, folder, name, 0) == 0 else {
            throw .system(action: "link", entry: entry.path, errno: Errno(rawValue: errno))
        }
    }

    private func missingTarget(_ entry: ArchiveEntry) -> ArchiveError {
        .unsafe(entry.path, "is a hard link to something that is no file of the archive before it")
    }

    /// Makes a symbolic link, once all files are written. Of several at one path the last one stays.
    mutating func makeLink(_ path: EntryPath, to target: [UInt8], modified: timespec?) throws(ArchiveError) {
        guard let name = path.name else { return }
        let target = target.map { CChar(bitPattern: $0) } + [0]
        let folder = try cursor.enter(path.folders, for: path.stored)
        if symlinkat(target, folder, name) != 0 {
            guard errno == EEXIST else {
                throw .system(action: "create the link", entry: path.stored, errno: Errno(rawValue: errno))
            }
            var status = stat()
            guard fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFLNK else {
                throw .conflict(path.stored, "is a symbolic link and a file or folder at once")
            }
            guard unlinkat(folder, name, 0) == 0, symlinkat(target, folder, name) == 0 else {
                throw .system(action: "create the link", entry: path.stored, errno: Errno(rawValue: errno))
            }
        }
        guard let modified else { return }
        guard utimensat(folder, name, FileAttributes.times(modified), AT_SYMLINK_NOFOLLOW) == 0 else {
            throw .system(action: "set the time of", entry: path.stored, errno: Errno(rawValue: errno))
        }
    }
}
