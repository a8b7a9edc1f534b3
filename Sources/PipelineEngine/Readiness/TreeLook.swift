import Glibc
import PipelineKit
import SystemPackage

/// One look at a folder with all it holds, as a drop.
struct TreeLook {
    /// What it is as a whole.
    private(set) var sample = Sample.gone
    /// Files that have another name outside the folder, so that they can still be reached when it is claimed.
    private(set) var linked: [FilePath] = []

    private let sight: WriterSight?
    private let since: MonotonicTime?
    private var size: Int64 = 0
    private var modified: Int64 = .min
    private var changed: Int64 = .min
    private var hasher = Hasher()
    private var writer = OpenWriters.none
    private var names: [FileIdentity: (found: Int, links: Int, path: FilePath)] = [:]

    /// Looks at a folder. Links are not followed; a folder that holds anything but files and folders is refused.
    /// `sight`: it is asked for open writers of every file.
    static func take(
        of root: FilePath, asking sight: WriterSight?, since: MonotonicTime? = nil
    ) throws(IOError) -> TreeLook {
        var look = TreeLook(sight: sight, since: since)
        try look.examine(root)
        return look
    }

    private init(sight: WriterSight?, since: MonotonicTime?) {
        self.sight = sight
        self.since = since
        if sight == nil { writer = .notAsked }
    }

    private mutating func examine(_ root: FilePath) throws(IOError) {
        guard let top = try Self.status(of: root) else { return }
        guard FileKind(mode: top.st_mode) == .folder else {
            sample = .refused("no folder any more")
            return
        }
        note(top)
        var pending: [FilePath] = [FilePath()]
        while let folder = pending.popLast() {
            do throws(IOError) {
                // Sorted, so that the hash is the same each time.
                for name in try Folder.names(in: folder.isEmpty ? root : root.pushing(folder)).sorted() {
                    let entry = folder.appending(name)
                    guard let refusal = try look(at: entry, root, &pending) else { continue }
                    sample = .refused(refusal)
                    return
                }
            } catch {
                switch error.errno {
                // Gone meanwhile: the next look will show a difference.
                case .noSuchFileOrDirectory: continue
                case .permissionDenied, .fileNameTooLong, .tooManySymbolicLinkLevels:
                    sample = .refused("a folder that cannot be read as a whole: \(error)")
                    return
                default: throw error
                }
            }
        }
        linked = names.values.filter { $0.found < $0.links }.map(\.path)
        sample = .file(
            Fingerprint(
                device: UInt64(top.st_dev), inode: UInt64(top.st_ino), size: size, modified: modified,
                changed: changed, listing: hasher.finalize()), writer)
    }

    /// Takes in one entry; why it makes the whole impossible to take, or nil.
    private mutating func look(
        at entry: FilePath, _ root: FilePath, _ pending: inout [FilePath]
    ) throws(IOError) -> String? {
        let path = root.pushing(entry)
        guard let status = try Self.status(of: path) else { return nil }
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
            size += fingerprint.size
            if status.st_nlink > 1 {
                let known = names[fingerprint.identity]?.found ?? 0
                names[fingerprint.identity] = (known + 1, Int(status.st_nlink), path)
            }
            if let sight, !writer.areKnown { ask(sight, path, fingerprint) }
            return nil
        case .symbolicLink: return "it holds a symbolic link, '\(entry.text)'; put the file itself there"
        default: return "it holds a device, FIFO or socket, '\(entry.text)'"
        }
    }

    private mutating func note(_ status: stat) {
        let fingerprint = Fingerprint(status)
        modified = max(modified, fingerprint.modified)
        changed = max(changed, fingerprint.changed)
    }

    /// One file that nobody can tell about makes the whole unknown; one that is held open, held open.
    private mutating func ask(_ sight: WriterSight, _ path: FilePath, _ fingerprint: Fingerprint) {
        var found: OpenWriters
        do throws(IOError) {
            let file = try OpenFile.open(path, O_RDONLY | O_NONBLOCK | O_NOFOLLOW)
            found = sight.writers(of: file.descriptor, fingerprint.identity, since: since)
        } catch {
            found = sight.seen(fingerprint.identity, since: since)
        }
        if found != .none { writer = found }
    }

    private static func status(of path: FilePath) throws(IOError) -> stat? {
        var status = stat()
        if path.withPlatformString({ lstat($0, &status) }) == 0 { return status }
        guard Errno.last == .noSuchFileOrDirectory else { throw IOError("examine", path, .last) }
        return nil
    }
}
