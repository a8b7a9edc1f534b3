package import Files
import Glibc
package import PipelineKit
package import SystemPackage

/// Syncs a batch's files and folders, or leaves that to the kernel with `durability: fast`.
package struct DiskSync: Sendable {
    /// Whether anything is synced at all.
    package let isFull: Bool

    /// Above so many files, one sync of the whole file system is cheaper than one for each (measured: 50 files 2 ms by
    /// syncfs(2), 6 ms one by one; it also waits for other programs' data, so it is not used for a few).
    package static let fewFiles = 8

    package init(_ level: Durability) { isFull = level == .full }

    /// What has to be synced for one job.
    package struct Unsynced: Sendable {
        /// Its files and folders.
        package var files: [FilePath] = []
        /// Whether there is more that must not be opened, since it may not be ours: only syncing the whole file system
        /// covers it.
        package var needsWhole = false
    }

    /// Brings the data of these files to the disk, all on the file system of `whole`. A failure must not be answered by
    /// syncing again: the kernel may have dropped what it could not write.
    package func sync(files: [FilePath], by whole: FileSystemSync) throws(IOError) {
        for case let error? in sync([Unsynced(files: files)], by: whole) { throw error }
    }

    /// The same for several jobs at once; what went wrong, for each of them.
    package func sync(_ jobs: [Unsynced], by whole: FileSystemSync) -> [IOError?] {
        var errors = [IOError?](repeating: nil, count: jobs.count)
        guard isFull else { return errors }
        if jobs.reduce(0, { $0 + $1.files.count }) > Self.fewFiles, !whole.hasLostWrites {
            if let error = Self.sync(whole) { return errors.map { _ in error } }
            // Another batch may have received the report meanwhile.
            if !whole.hasLostWrites { return errors }
        }
        var remaining: [Int] = []
        for (index, job) in jobs.enumerated() {
            do throws(IOError) {
                if try !Self.syncEach(job.files) || job.needsWhole { remaining.append(index) }
            } catch {
                errors[index] = error
            }
        }
        if !remaining.isEmpty, let error = Self.sync(whole) {
            for index in remaining { errors[index] = error }
        }
        return errors
    }

    /// Syncs file by file. False where one may not be opened (a mode without read, a lease of its sender's): it can
    /// still be brought to the disk with all others.
    private static func syncEach(_ files: [FilePath]) throws(IOError) -> Bool {
        var areAllOpen = true
        for file in files {
            let opened: OpenFile
            do throws(IOError) {
                opened = try OpenFile.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK)
            } catch {
                guard error.errno.trouble(with: .drop) != .pauses else { throw error }
                areAllOpen = false
                continue
            }
            try opened.sync()
        }
        return areAllOpen
    }

    private static func sync(_ whole: FileSystemSync) -> IOError? {
        do throws(IOError) {
            try whole.sync()
            return nil
        } catch {
            return error
        }
    }

    /// Brings the entries of these folders to the disk: by one sync of each file system, `whole` for its own. A sync of
    /// a folder proves nothing: XFS returns 0 after the file system has died (measured on Linux 6.18). Only where a
    /// server or another program keeps them, each folder is synced, since syncfs(2) does not reach there.
    /// `vouching`: whether files on the file system of `whole` were written to that no sync of their own brought there.
    /// Then it throws where a write to it has failed at all: another batch, or program, may have been told of theirs.
    /// The result: whether all of `whole` was synced by that.
    @discardableResult
    package func sync(
        folders: some Sequence<FilePath>, vouching: Bool = false, by whole: FileSystemSync
    ) throws(IOError) -> Bool {
        guard isFull else { return false }
        var others: [UInt64: FilePath] = [:]
        var isOwn = false
        for folder in folders {
            let isLocal = FileSystemKind.of(folder) == .local
            // A descriptor that has reported an error reports only the next one: then each folder reports
            // what it lost itself, and a descriptor of its own whether the file system is alive.
            let isDoubtful = whole.hasLostWrites
            if !isLocal || isDoubtful { try OpenFile.open(folder, O_RDONLY | O_DIRECTORY).sync() }
            guard isLocal else { continue }
            guard let device = FileIdentity.of(folder, followingLinks: true)?.device else {
                throw IOError("sync", folder, .last)
            }
            if device == whole.device, !isDoubtful { isOwn = true } else { others[device] = folder }
        }
        if isOwn { try whole.sync() }
        for folder in others.values { try FileSystemSync(of: folder).sync() }
        if vouching, whole.hasLostWrites { throw IOError("sync", whole.folder, .ioError) }
        // Another batch may have received a report that concerned this one.
        return isOwn && !whole.hasLostWrites
    }

    /// Whether a file in this folder is to be synced by itself: a sync of `whole` does not reach it, or may not tell.
    func syncsAlone(in folder: HeldFolder, by whole: FileSystemSync) throws(IOError) -> Bool {
        guard isFull else { return false }
        let device = UInt64(try folder.folder.file.status().st_dev)
        if whole.hasLostWrites || device != whole.device { return true }
        return FileSystemKind.of(folder.path) != .local
    }

    /// Every file and folder that must be synced for a complete tree.
    static func everything(in path: FilePath) throws(IOError) -> [FilePath] {
        guard Folder.kind(of: path) == .folder else { return [path] }
        let tree = try FileTree.list(path)
        return tree.files.map { path.pushing($0.relative) } + tree.folders.map { path.pushing($0) } + [path]
    }
}
