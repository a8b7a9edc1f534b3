package import Files
package import FolderWatch
import Glibc
package import PipelineKit
package import SystemPackage

/// One look at a folder drop and all its contents. It holds the folders on its path open, one `openat` each, and stops
/// at the rule's limits. It can be suspended at any entry and continued.
package final class TreeLook {
    /// The result, once the look is finished.
    package private(set) var sample = Sample.gone
    /// Files that have another name outside the folder, so that they can still be reached when it is claimed.
    package private(set) var linked: [FilePath] = []
    /// The limit that it is beyond; then the sample is of what was seen up to there.
    package private(set) var excess: ReadyRule.Limits.Excess?

    private struct Level {
        let stream: OpaquePointer
        /// Its path from the drop on; empty for the drop itself.
        let path: FilePath
        var descriptor: Int32 { dirfd(stream) }
    }

    /// Whether other users can change some of it.
    package private(set) var isForeign = false

    private let sight: WriterSight?
    private let attributes: Attributes
    private let since: MonotonicTime?
    private let limits: ReadyRule.Limits
    /// The drop's own path, for messages and for what has other names.
    private let root: FilePath
    private var top: Fingerprint
    private var levels: [Level] = []
    private var isOver = false
    private var entries = 0
    private var size: Int64 = 0
    private var modified = FileTime.distantPast
    private var changed = FileTime.distantPast
    /// A sum, so that the order of the entries does not matter.
    private var listing = Hasher().finalize()
    private var writer = OpenWriters.none
    private var folders: Set<FileIdentity> = []
    private var names: [FileIdentity: (found: Int, links: Int, path: FilePath)] = [:]

    /// How long a look may run before other work of its queue gets a turn.
    package static var slice: Duration { .milliseconds(10) }

    /// Begins a look at a folder in another one. Links are not followed; a folder that holds anything but files and
    /// folders is refused. `sight`: it is asked for open writers of every file, and for processes that are in the
    /// folder.
    package init(
        at name: FileName, in parent: borrowing OpenFile, limits: ReadyRule.Limits = ReadyRule.Limits(),
        asking sight: WriterSight?, since: MonotonicTime? = nil, by attributes: Attributes = .remembered
    ) throws(IOError) {
        self.sight = sight
        self.attributes = attributes
        self.since = since
        self.limits = limits
        root = parent.path.appending(name)
        if sight == nil { writer = .notAsked }
        var status = stat()
        let found = try Self.examine(name, parent.descriptor, root, &status, attributes)
        top = Fingerprint(status)
        isForeign = Ownership.isForeign(status)
        guard found else {
            isOver = true
            return
        }
        guard FileKind(mode: status.st_mode) == .folder else {
            end(.refused("no longer a folder"))
            return
        }
        note(top)
        try attempt { () throws(IOError) in try enter(name, in: parent.descriptor, as: FilePath()) }
    }

    deinit { for level in levels { closedir(level.stream) } }

    /// Takes a whole look. `breaksOff`: asked after each slice, with when the look began; once it says so, the error is
    /// `canceled`.
    package static func examine(
        _ name: FileName, in parent: borrowing OpenFile, limits: ReadyRule.Limits = ReadyRule.Limits(),
        asking sight: WriterSight?, since: MonotonicTime? = nil, by attributes: Attributes = .remembered,
        breaksOff: (_ begun: MonotonicTime) -> Bool = { _ in false }
    ) throws(IOError) -> TreeLook {
        let begun = MonotonicTime.now()
        let look = try TreeLook(
            at: name, in: parent, limits: limits, asking: sight, since: since, by: attributes)
        while try !look.goOn(until: .now() + slice) {
            if breaksOff(begun) { throw IOError("examine", look.root, .canceled) }
        }
        return look
    }

    /// Continues until `end`; returns whether the look is finished. Throws errors that concern more than this drop.
    package func goOn(until end: MonotonicTime) throws(IOError) -> Bool {
        while !isOver {
            guard let level = levels.last else {
                conclude()
                break
            }
            try attempt { () throws(IOError) in
                guard let name = try next(in: level) else { return leave() }
                try visit(name, in: level)
            }
            if MonotonicTime.now() >= end { break }
        }
        return isOver
    }

    /// An error of one entry concerns this drop only.
    private func attempt(_ body: () throws(IOError) -> Void) throws(IOError) {
        do throws(IOError) {
            try body()
        } catch {
            switch error.errno.trouble(with: .drop) {
            // Gone meanwhile: the next look will show a difference.
            case .gone: break
            case .pauses: throw error
            default:
                switch error.errno {
                case .permissionDenied, .fileNameTooLong:
                    end(.refused("a folder that cannot be read completely: \(error)"))
                default: end(.blocked(error.errno, top))
                }
            }
        }
    }

    // MARK: Down and up

    private func enter(_ name: FileName, in parent: Int32, as path: FilePath) throws(IOError) {
        let whole = root.pushing(path)
        guard levels.count <= limits.depth else { return pass(.depth) }
        let opened = name.withCString { name in
            retrying { openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC) }
        }
        guard opened >= 0 else { throw IOError("open", whole, .last) }
        guard let stream = fdopendir(opened) else {
            let error = Errno.last
            close(opened)
            throw IOError("list", whole, error)
        }
        levels.append(Level(stream: stream, path: path))
        var status = stat()
        if fstat(opened, &status) == 0 { folders.insert(FileIdentity(status)) }
    }

    private func leave() {
        if let level = levels.popLast() { closedir(level.stream) }
    }

    /// The next entry but `.` and `..`; nil at the end.
    private func next(in level: Level) throws(IOError) -> FileName? {
        while true {
            errno = 0
            guard let entry = readdir(level.stream) else {
                guard errno != 0 else { return nil }
                let error = Errno.last
                leave()
                throw IOError("list", root.pushing(level.path), error)
            }
            let name = withUnsafePointer(to: &entry.pointee.d_name) { pointer in
                pointer.withMemoryRebound(to: CChar.self, capacity: FileName.longest + 1) { FileName(cString: $0) }
            }
            if let name { return name }
        }
    }

    private func visit(_ name: FileName, in level: Level) throws(IOError) {
        let entry = level.path.appending(name)
        let path = root.pushing(entry)
        // Stages open files by their paths.
        guard path.length < Int(PATH_MAX) else { throw IOError("examine", path, .fileNameTooLong) }
        entries += 1
        guard entries <= limits.entries else { return pass(.entries) }
        var status = stat()
        guard try Self.examine(name, level.descriptor, path, &status, attributes) else { return }
        if Ownership.isForeign(status) { isForeign = true }
        let fingerprint = Fingerprint(status)
        note(fingerprint)
        var hasher = Hasher()
        hasher.combine(entry.bytes)
        switch FileKind(mode: status.st_mode) {
        case .folder:
            listing &+= hasher.finalize()
            try enter(name, in: level.descriptor, as: entry)
        case .regular:
            // The rename of the top folder changes the ctime of that folder alone.
            hasher.combine(fingerprint)
            listing &+= hasher.finalize()
            add(fingerprint, links: Int(status.st_nlink), path)
            if !isOver, let sight, !writer.areKnown { try ask(sight, name, level.descriptor, fingerprint, path) }
        case .symbolicLink: end(.refused("it contains a symbolic link, '\(entry.text)'; put the file itself there"))
        default: end(.refused("it contains a device, FIFO or socket, '\(entry.text)'"))
        }
    }

    private func add(_ file: Fingerprint, links: Int, _ path: FilePath) {
        size = size.addingSaturated(file.size)
        if links > 1 { names[file.identity] = ((names[file.identity]?.found ?? 0) + 1, links, path) }
        if let most = limits.size, size > most.bytes { pass(.size) }
    }

    private func note(_ fingerprint: Fingerprint) {
        modified = max(modified, fingerprint.modified)
        changed = max(changed, fingerprint.changed)
    }

    /// One file in an unknown state makes the whole unknown; one held open makes it held open.
    private func ask(
        _ sight: WriterSight, _ name: FileName, _ folder: Int32, _ fingerprint: Fingerprint, _ path: FilePath
    ) throws(IOError) {
        let file = name.withCString { name in
            retrying { openat(folder, name, O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC) }
        }
        let found: OpenWriters
        if file >= 0 {
            found = sight.writers(of: file, fingerprint.identity, since: since)
            close(file)
        } else {
            switch Errno.last {
            case .permissionDenied: found = sight.seen(fingerprint.identity, since: since)
            // A write lease keeps others from opening it.
            case .resourceTemporarilyUnavailable: found = .some(LeaseHolders.holder(of: fingerprint.identity))
            case let error: throw IOError("open", path, error)
            }
        }
        if found != .none { writer = found }
    }

    // MARK: The end

    /// It exceeds a limit: the look ends.
    private func pass(_ limit: ReadyRule.Limits.Excess) {
        excess = limit
        conclude()
    }

    private func conclude() {
        if let sight, !writer.areKnown, let visitor = sight.visitor(of: folders, since: since) {
            writer = .some(visitor)
        }
        linked = names.values.filter { $0.found < $0.links }.map(\.path)
        end(
            .file(
                Fingerprint(
                    device: top.device, inode: top.inode, size: size, modified: modified, changed: changed,
                    listing: listing), writer))
    }

    private func end(_ sample: Sample) {
        self.sample = sample
        isOver = true
        while !levels.isEmpty { leave() }
    }

    private static func examine(
        _ name: FileName, _ folder: Int32, _ path: FilePath, _ status: inout stat, _ attributes: Attributes
    ) throws(IOError) -> Bool {
        if attributes.read(name, in: folder, &status) { return true }
        guard Errno.last == .noSuchFileOrDirectory else { throw IOError("examine", path, .last) }
        return false
    }
}
