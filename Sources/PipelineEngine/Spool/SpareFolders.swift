import DequeModule
import Glibc
import PipelineKit
import Synchronization
import SystemPackage

/// Emptied folders of finished jobs, reused for new ones.
///
/// ext4 looks long for a free inode where many were freed in the last seconds (`recently_deleted` in its ialloc.c),
/// which made a folder made and removed for each of 2,000 jobs cost 1 ms a job; renaming one costs 20 µs. While jobs
/// come and go a folder passes from one to the next; leftovers are moved away when there are no more jobs.
final class SpareFolders: Sendable {
    private struct State {
        /// Still among the job folders, where the next start takes them for folders of finished jobs. The oldest
        /// is used first, so that none stays there for long.
        var emptied = Deque<JobID>()
        var putAway: [JobID] = []
    }

    private static let most = 256

    let path: FilePath
    private let active: FilePath
    private let state = Mutex(State())

    /// `active`: the folder of job folders; `path`: where unused ones are kept.
    init(from active: FilePath, in path: FilePath) {
        self.active = active
        self.path = path
    }

    /// Removes those of earlier runs. If one is no longer empty, a program of a finished job must have put
    /// something there; it stays.
    func removeOld() throws(IOError) {
        for name in try Folder.names(in: path) where JobID(name.text) != nil {
            let folder = path.appending(name)
            guard folder.withPlatformString({ rmdir($0) }) != 0, Errno.last != .directoryNotEmpty else { continue }
            throw IOError("remove", folder, .last)
        }
    }

    /// Gives one to a job; false if there is none.
    func use(as folder: FilePath) -> Bool {
        let kept = state.withLock { state in
            state.emptied.popFirst().map { active.appending($0.text) }
                ?? state.putAway.popLast().map { path.appending($0.text) }
        }
        // If it was removed, a new one will do.
        return kept.map { Self.rename($0, to: folder) } ?? false
    }

    /// Keeps a job's empty folder; false if there are enough.
    func add(_ id: JobID) -> Bool {
        state.withLock { state in
            guard state.emptied.count + state.putAway.count < Self.most else { return false }
            state.emptied.append(id)
            return true
        }
    }

    func forgetAll() { state.withLock { $0 = State() } }

    /// Moves the unused ones out of the job folders.
    func putAway() {
        while let id = state.withLock({ $0.emptied.popFirst() }) {
            // One that cannot be moved is found by the next start.
            guard Self.rename(active.appending(id.text), to: path.appending(id.text)) else { continue }
            state.withLock { $0.putAway.append(id) }
        }
    }

    private static func rename(_ source: FilePath, to target: FilePath) -> Bool {
        source.withPlatformString { from in target.withPlatformString { Glibc.rename(from, $0) } } == 0
    }
}
