import Synchronization
import SystemPackage

/// Folders that were created for outputs and whose own names may not be on disk yet. All batches of an engine share
/// one: what is published into a folder that another batch made a moment ago must not count as done before that folder
/// is on the disk too.
final class MadeFolders: Sendable {
    private struct State {
        /// Each with the number of its note.
        var folders: [FilePath: Int] = [:]
        var last = 0
    }

    /// As many as are kept: pipelines that sync nothing forget nothing, and the kernel has long written the oldest.
    private static let most = 10_000

    private let state = Mutex(State())

    /// Notes folders before they are created, so that a batch that finds one on disk also finds it here.
    func note(_ folders: [FilePath]) {
        state.withLock { state in
            for folder in folders {
                state.last += 1
                state.folders[folder] = state.last
            }
            guard state.folders.count > Self.most else { return }
            let oldest = state.last - Self.most / 2
            state.folders = state.folders.filter { $0.value > oldest }
        }
    }

    /// Those that are the folder itself or above it.
    func leading(to folder: FilePath) -> [FilePath] {
        state.withLock { state in
            guard !state.folders.isEmpty else { return [] }
            var leading: [FilePath] = []
            var next = folder
            while !next.isEmpty {
                if state.folders[next] != nil { leading.append(next) }
                guard next.removeLastComponent() else { break }
            }
            return leading
        }
    }

    /// Their parent folders have been synced.
    func forget(_ folders: [FilePath]) {
        guard !folders.isEmpty else { return }
        state.withLock { state in
            for folder in folders { state.folders[folder] = nil }
        }
    }
}
