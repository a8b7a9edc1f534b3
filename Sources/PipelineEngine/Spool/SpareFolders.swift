import DequeModule
import Glibc
import PipelineKit
import Synchronization
import SystemPackage

/// Emptied folders of jobs that are over, used again for new ones.
///
/// ext4 looks long for a free inode where many were freed in the last seconds (`recently_deleted` in its ialloc.c),
/// which made a folder made and removed for each of 2,000 jobs cost 1 ms a job; renaming one costs 20 µs. While jobs
/// come and go a folder passes from one to the next; only once there are no more is what is left put away.
final class SpareFolders: Sendable {
    private struct State {
        /// Still among the folders of jobs, where the next start finds them as those of jobs that are over. The oldest
        /// is used first, so that none stays there for long.
        var emptied = Deque<JobID>()
        var putAway: [JobID] = []
    }

    private static let most = 256

    let path: FilePath
    private let active: FilePath
    private let state = Mutex(State())

    /// None yet. `active`: where jobs' folders are; `path`: where those that nobody uses are put.
    init(from active: FilePath, in path: FilePath) {
        self.active = active
        self.path = path
    }

    /// Removes those of earlier runs. What is not empty any more a program of a job that is long over must have put
    /// there; it stays.
    func removeOld() throws(IOError) {
        for name in try Folder.names(in: path) where JobID(name.text) != nil {
            let folder = path.appending(name)
            guard folder.withPlatformString({ rmdir($0) }) != 0, Errno.last != .directoryNotEmpty else { continue }
            throw IOError("remove", folder, .last)
        }
    }

    /// Gives one to a job; false where there is none.
    func use(as folder: FilePath) -> Bool {
        let kept = state.withLock { state in
            state.emptied.popFirst().map { active.appending($0.text) }
                ?? state.putAway.popLast().map { path.appending($0.text) }
        }
        // Where it was tidied away, a new one does as well.
        return kept.map { Self.rename($0, to: folder) } ?? false
    }

    /// Keeps a job's folder, which is empty; false where there are enough.
    func add(_ id: JobID) -> Bool {
        state.withLock { state in
            guard state.emptied.count + state.putAway.count < Self.most else { return false }
            state.emptied.append(id)
            return true
        }
    }

    func forgetAll() { state.withLock { $0 = State() } }

    /// Moves those that are among the folders of jobs away from there.
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
