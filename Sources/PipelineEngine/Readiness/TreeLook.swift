import Glibc
import PipelineKit
import SystemPackage

/// One look at a folder with all it holds, as a drop.
struct TreeLook {
    /// What it is as a whole.
    private(set) var sample = Sample.gone
    /// Files that have another name outside the folder, so that they can still be reached when it is claimed.
    private(set) var linked: [FilePath] = []

    /// Whether some of it is not ours alone.
    private(set) var isForeign = false

    private let sight: WriterSight?
    private let since: MonotonicTime?
    private var size: Int64 = 0
    private var modified = FileTime.distantPast
    private var changed = FileTime.distantPast
    private var hasher = Hasher()
    private var writer = OpenWriters.none
    private var folders: Set<FileIdentity> = []
    private var names: [FileIdentity: (found: Int, links: Int, path: FilePath)] = [:]

    /// Looks at a folder in another one. Links are not followed; a folder that holds anything but files and folders is
    /// refused. `sight`: it is asked for open writers of every file, and for processes that are in the folder.
    static func take(
        of name: FileName, in parent: borrowing OpenFile, asking sight: WriterSight?, since: MonotonicTime? = nil
    ) throws(IOError) -> TreeLook {
        var look = TreeLook(sight: sight, since: since)
        try look.examine(name, parent)
        return look
    }

    private init(sight: WriterSight?, since: MonotonicTime?) {
        self.sight = sight
        self.since = since
        if sight == nil { writer = .notAsked }
    }

    private mutating func examine(_ name: FileName, _ parent: borrowing OpenFile) throws(IOError) {
        guard let top = try Self.status(of: name, in: parent) else { return }
        guard FileKind(mode: top.st_mode) == .folder else {
            sample = .refused("no folder any more")
            return
        }
        note(top)
        let root = FilePath().appending(name)
        var pending: [FilePath] = [FilePath()]
        while let folder = pending.popLast() {
            do throws(IOError) {
                let opened = try OpenFile.openFolder(folder.isEmpty ? root : root.pushing(folder), below: parent)
                folders.insert(FileIdentity(try opened.status()))
                // Sorted, so that the hash is the same each time.
                for name in try Folder.names(in: opened).sorted() {
                    guard let refusal = try look(at: name, in: opened, folder, &pending) else { continue }
                    sample = .refused(refusal)
                    return
                }
            } catch {
                switch error.errno {
                // Gone meanwhile: the next look will show a difference.
                case .noSuchFileOrDirectory, .notDirectory, .tooManySymbolicLinkLevels: continue
                case .permissionDenied, .fileNameTooLong:
                    sample = .refused("a folder that cannot be read as a whole: \(error)")
                    return
                default: throw error
                }
            }
        }
        if let sight, !writer.areKnown, let visitor = sight.visitor(of: folders, since: since) {
            writer = .some(visitor)
        }
        linked = names.values.filter { $0.found < $0.links }.map(\.path)
        sample = .file(
            Fingerprint(
                device: UInt64(top.st_dev), inode: UInt64(top.st_ino), size: size, modified: modified,
                changed: changed, listing: hasher.finalize()), writer)
    }

    /// Takes in one entry; why it makes the whole impossible to take, or nil.
    private mutating func look(
        at name: FileName, in opened: borrowing OpenFile, _ folder: FilePath, _ pending: inout [FilePath]
    ) throws(IOError) -> String? {
        guard let status = try Self.status(of: name, in: opened) else { return nil }
        let entry = folder.appending(name)
        let path = opened.path.appending(name)
        // Stages open files by their paths.
        guard path.length < Int(PATH_MAX) else { throw IOError("examine", path, .fileNameTooLong) }
        hasher.combine(entry.bytes)
        note(status)
        switch FileKind(mode: status.st_mode) {
        case .folder:
            pending.append(entry)
            return nil
        case .regular:
            let fingerprint = Fingerprint(status)
            // The rename of the top folder changes the ctime of that folder alone.
            hasher.combine(fingerprint)
            size = size.addingSaturated(fingerprint.size)
            if status.st_nlink > 1 {
                let known = names[fingerprint.identity]?.found ?? 0
                names[fingerprint.identity] = (known + 1, Int(status.st_nlink), path)
            }
            if let sight, !writer.areKnown { ask(sight, name, opened, fingerprint) }
            return nil
        case .symbolicLink: return "it holds a symbolic link, '\(entry.text)'; put the file itself there"
        default: return "it holds a device, FIFO or socket, '\(entry.text)'"
        }
    }

    private mutating func note(_ status: stat) {
        if TakeOver.isNeeded(status) { isForeign = true }
        let fingerprint = Fingerprint(status)
        modified = max(modified, fingerprint.modified)
        changed = max(changed, fingerprint.changed)
    }

    /// One file that nobody can tell about makes the whole unknown; one that is held open, held open.
    private mutating func ask(
        _ sight: WriterSight, _ name: FileName, _ folder: borrowing OpenFile, _ fingerprint: Fingerprint
    ) {
        var found: OpenWriters
        do throws(IOError) {
            let file = try OpenFile.open(name, in: folder, O_RDONLY | O_NONBLOCK)
            found = sight.writers(of: file.descriptor, fingerprint.identity, since: since)
        } catch {
            found = sight.seen(fingerprint.identity, since: since)
        }
        if found != .none { writer = found }
    }

    private static func status(of name: FileName, in folder: borrowing OpenFile) throws(IOError) -> stat? {
        var status = stat()
        let descriptor = folder.descriptor
        if name.withCString({ fstatat(descriptor, $0, &status, AT_SYMLINK_NOFOLLOW) }) == 0 { return status }
        guard Errno.last == .noSuchFileOrDirectory else {
            throw IOError("examine", folder.path.appending(name), .last)
        }
        return nil
    }
}
