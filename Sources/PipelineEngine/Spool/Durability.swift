import Glibc
package import PipelineKit
package import SystemPackage

/// Brings a batch's files and folders to the disk, or leaves that to the kernel where a pipeline asks for no more.
package struct Durability: Sendable {
    /// Whether anything is synced at all.
    package let isFull: Bool

    /// Above so many files, one sync of the whole file system is cheaper than one for each (measured: 50 files 2 ms by
    /// syncfs(2), 6 ms one by one; it also waits for everybody else's data, so not for a few).
    package static let fewFiles = 8

    /// As a pipeline asks.
    package init(_ level: Pipeline.Durability) { isFull = level == .full }

    /// Brings the data of these files to the disk, all on the file system of `whole`. A failure must not be answered by
    /// syncing again: the kernel may have dropped what it could not write.
    package func sync(files: [FilePath], by whole: FileSystemSync) throws(IOError) {
        guard isFull, !files.isEmpty else { return }
        if files.count > Self.fewFiles, !whole.hasLostWrites {
            try whole.sync()
            // Meanwhile another batch may have been told.
            if !whole.hasLostWrites { return }
        }
        var isOneClosed = false
        for file in files {
            do throws(IOError) {
                try OpenFile.open(file, O_RDONLY | O_NOFOLLOW | O_NONBLOCK).sync()
            } catch {
                guard error.errno == .permissionDenied else { throw error }
                isOneClosed = true
            }
        }
        // One that may not be opened (a mode without read) can still be brought to the disk with all others.
        if isOneClosed { try whole.sync() }
    }

    /// Brings the entries of these folders to the disk, each once.
    package func sync(folders: some Sequence<FilePath>) throws(IOError) {
        guard isFull else { return }
        for folder in folders { try OpenFile.open(folder, O_RDONLY | O_DIRECTORY).sync() }
    }
}
