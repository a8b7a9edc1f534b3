import CLinux
package import Files
import Glibc
import Synchronization
package import SystemPackage

/// Syncs a whole file system, and learns of every write to it that failed since this object was created. The kernel
/// reports an error once per open descriptor (errseq_t). A descriptor that is opened only for the sync gets
/// unreported errors only, and another program's sync may have consumed the report that concerns us.
package final class FileSystemSync: Sendable {
    private struct State {
        /// Descriptors not in use: two syncs through one descriptor would share a report.
        var idle: [Int32] = []
        var hasLostWrites = false
    }

    /// The file system's number while it is mounted (st_dev).
    let device: UInt64
    let folder: FilePath
    private let state = Mutex(State())

    /// For the file system that holds this folder, and for so many syncs at a time.
    package init(of folder: FilePath, lanes: Int = 1) throws(IOError) {
        self.folder = folder
        device = FileIdentity.of(folder, followingLinks: true)?.device ?? 0
        for _ in 0..<lanes {
            let descriptor = try open()
            state.withLock { $0.idle.append(descriptor) }
        }
    }

    deinit {
        for descriptor in state.withLock({ $0.idle }) { close(descriptor) }
    }

    private func open() throws(IOError) -> Int32 {
        let descriptor = retrying { folder.withPlatformString { Glibc.open($0, O_RDONLY | O_DIRECTORY | O_CLOEXEC) } }
        guard descriptor >= 0 else { throw IOError("open", folder, .last) }
        return descriptor
    }

    /// Whether a write has failed. What the kernel could not write may be another batch's than the one that was told,
    /// but each file has a note of its own about it: from then on files are to be synced one by one.
    package var hasLostWrites: Bool { state.withLock { $0.hasLostWrites } }

    /// Waits until all of it is on disk. A failed sync must not be repeated: the kernel may have
    /// dropped what it could not write.
    package func sync() throws(IOError) {
        let idle = state.withLock { $0.idle.popLast() }
        let descriptor: Int32
        if let idle { descriptor = idle } else { descriptor = try open() }
        let hasFailed = retrying { dm_syncfs(descriptor) } != 0
        let error = Errno.last
        state.withLock { state in
            // The next sync through this descriptor gets no report, and must see it here.
            if hasFailed { state.hasLostWrites = true }
            state.idle.append(descriptor)
        }
        if hasFailed { throw IOError("sync", folder, error) }
    }
}
