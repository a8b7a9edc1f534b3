import CLinux
import Glibc
package import PipelineKit
import Synchronization
package import SystemPackage

/// Brings a batch's files and folders to the disk, or leaves that to the kernel where a pipeline asks for no more.
package struct Durability: Sendable {
    /// Whether anything is synced at all.
    package let isFull: Bool

    /// Above so many files, one sync of the whole file system is cheaper than one for each (measured: 50 files 2 ms by
    /// syncfs(2), 6 ms one by one; it also waits for everybody else's data, so not for a few).
    package static let fewFiles = 8

    /// Whether a sync of a whole file system has failed in this process. The kernel tells only one who asks of that
    /// (errseq_t: who opens the folder later is not told), though what it could not write may be another batch's. Each
    /// file has a note of its own about it, so from then on they are synced one by one.
    private static let hasLostWrites = Atomic(false)

    /// As a pipeline asks.
    package init(_ level: Pipeline.Durability) { isFull = level == .full }

    /// Brings the data of these files to the disk, all below `folder` and on its file system. A failure must not be
    /// answered by syncing again: the kernel may have dropped what it could not write.
    package func sync(files: [FilePath], below folder: FilePath) throws(IOError) {
        guard isFull, !files.isEmpty else { return }
        if files.count > Self.fewFiles, !Self.hasLostWrites.load(ordering: .acquiring) {
            try syncAll(of: folder)
            // Meanwhile another batch may have been told.
            if !Self.hasLostWrites.load(ordering: .acquiring) { return }
        }
        for file in files {
            do throws(IOError) {
                try OpenFile.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).sync()
            } catch {
                // One that may not be opened (a mode without read) can still be brought to the disk with all others.
                guard error.errno == .permissionDenied else { throw error }
                return try syncAll(of: folder)
            }
        }
    }

    private func syncAll(of folder: FilePath) throws(IOError) {
        let whole = try OpenFile.openFolder(folder)
        guard retrying({ dm_syncfs(whole.descriptor) }) == 0 else {
            let error = Errno.last
            Self.hasLostWrites.store(true, ordering: .releasing)
            throw IOError("sync", folder, error)
        }
    }

    /// Brings the entries of these folders to the disk, each once.
    package func sync(folders: some Sequence<FilePath>) throws(IOError) {
        guard isFull else { return }
        for folder in folders { try OpenFile.open(folder, O_RDONLY | O_DIRECTORY).sync() }
    }
}
