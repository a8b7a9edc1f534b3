import Glibc
package import PipelineKit
import Synchronization
package import SystemPackage

/// Where a pipeline's claimed jobs live: one folder a job below `active`, on the inbox's file system, for nobody else
/// to enter. The folder says that a job exists.
package final class WorkFolder: Sendable {
    /// The folder.
    package let path: FilePath
    /// The jobs' folders lie in it.
    package let active: FilePath
    /// Whether it was not there before: with jobs in the journal, its file system may not be mounted.
    package let isNew: Bool
    private let lock: FolderLock
    /// Emptied job folders, kept for the next jobs.
    private let spare: FilePath
    private let spares = Mutex<[JobID]>([])

    /// How many emptied folders are kept.
    private static let mostSpares = 256

    /// Makes and locks the pipeline's work folder. The inbox must exist.
    package init(for pipeline: Pipeline) throws(EngineError) {
        do throws(IOError) {
            if let configured = pipeline.work { path = configured } else { path = try Self.place(for: pipeline) }
            active = path.appending("active")
            try Folder.make(path.removingLastComponent())
            try Folder.make(path, mode: 0o700)
            spare = path.appending("spare")
            isNew = try Folder.make(active, mode: 0o700)
            try Folder.makeClean(spare, mode: 0o700)
            try Self.checkDevice(path, of: pipeline)
        } catch {
            throw EngineError(
                kind: .configuration,
                message:
                    "\(pipeline.source.text): error: \(error); give the folder above the inbox to the user that "
                    + "Dropmill "
                    + "runs as, or set 'work:' to a folder on the inbox's file system")
        }
        lock = try FolderLock(path, describedAs: "the work folder")
    }

    /// Lets another process have it.
    package func release() { lock.release() }

    /// A job's folder.
    package func folder(of id: JobID) -> FilePath { active.appending(id.text) }

    /// Makes a job's folder, empty.
    ///
    /// Folders are used again: ext4 looks long for a free inode where many were freed in the last seconds
    /// (`recently_deleted` in its ialloc.c), which made a folder made and removed for each of 2,000 jobs cost 1 ms a
    /// job; renaming one costs 10 µs.
    package func makeFolder(of id: JobID) throws(IOError) -> FilePath {
        let folder = folder(of: id)
        if let spare = spares.withLock({ $0.popLast() }) {
            let kept = self.spare.appending(spare.text)
            let moved = kept.withPlatformString { from in folder.withPlatformString { rename(from, $0) } }
            if moved == 0 { return folder }
            // Somebody tidied it away; a new one does as well.
        }
        guard folder.withPlatformString({ mkdir($0, 0o700) }) == 0 else {
            throw IOError("create the folder", folder, .last)
        }
        return folder
    }

    /// Puts away a job's folder with all that is left in it.
    package func removeFolder(of id: JobID) throws(IOError) {
        let folder = folder(of: id)
        guard spares.withLock({ $0.count < Self.mostSpares }), Folder.kind(of: folder) == .folder else {
            return try Folder.remove(folder)
        }
        try Folder.forEachEntry(of: folder) { (name, _) throws(IOError) in try Folder.remove(folder.appending(name)) }
        let kept = spare.appending(id.text)
        let moved = folder.withPlatformString { from in kept.withPlatformString { rename(from, $0) } }
        guard moved == 0 else { return try Folder.remove(folder) }
        spares.withLock { $0.append(id) }
    }

    /// Beside the inbox, or inside it where the inbox is a mount point: a rename does not cross mounts.
    private static func place(for pipeline: Pipeline) throws(IOError) -> FilePath {
        let inbox = pipeline.inbox
        let above = inbox.removingLastComponent()
        let isMountPoint = try device(of: inbox) != device(of: above)
        return (isMountPoint ? inbox : above).appending(".dropmill").appending(pipeline.name)
    }

    private static func checkDevice(_ work: FilePath, of pipeline: Pipeline) throws(IOError) {
        if try device(of: work) != device(of: pipeline.inbox) {
            throw IOError("use as work folder", work, .improperLink)
        }
    }

    private static func device(of path: FilePath) throws(IOError) -> UInt64 {
        try UInt64(OpenFile.open(path, O_RDONLY | O_DIRECTORY).status().st_dev)
    }
}
