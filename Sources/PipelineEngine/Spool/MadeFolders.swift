import PipelineKit
import Synchronization
import SystemPackage

/// Folders that were made for outputs and whose own names may not be on the disk yet. All batches of the process share
/// one: what is published into a folder that another batch made a moment ago must not count as done before that folder
/// is on the disk too.
final class MadeFolders: Sendable {
    /// Those of this process.
    static let ofProcess = MadeFolders()

    private let unsynced = Mutex<Set<FilePath>>([])

    /// Notes folders that are about to be made: before, so that whoever finds one there finds it here.
    func note(_ folders: [FilePath]) {
        unsynced.withLock { $0.formUnion(folders) }
    }

    /// Those that are the folder itself or lead to it.
    func leading(to folder: FilePath) -> [FilePath] {
        unsynced.withLock { $0.filter(folder.starts) }
    }

    /// The folders that hold them were brought to the disk.
    func forget(_ folders: [FilePath]) {
        unsynced.withLock { $0.subtract(folders) }
    }
}
