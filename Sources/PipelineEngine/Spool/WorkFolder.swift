import Glibc
package import PipelineKit
package import SystemPackage

/// Where a pipeline's claimed jobs live: one folder a job below `active`, on the inbox's file system, for nobody else to
/// enter. The folder says that a job exists.
package final class WorkFolder: Sendable {
    /// The folder.
    package let path: FilePath
    /// The jobs' folders lie in it.
    package let active: FilePath
    private let lock: FolderLock

    /// Makes and locks the pipeline's work folder. The inbox must exist.
    package init(for pipeline: Pipeline) throws(EngineError) {
        do throws(IOError) {
            if let configured = pipeline.work { path = configured } else { path = try Self.place(for: pipeline) }
            active = path.appending("active")
            try Folder.make(path.removingLastComponent())
            try Folder.make(path, mode: 0o700)
            try Folder.make(active, mode: 0o700)
            try Self.checkDevice(path, of: pipeline)
        } catch {
            throw EngineError(
                kind: .configuration,
                message: "\(pipeline.source.text): error: \(error); give the folder above the inbox to the user that Dropmill "
                    + "runs as, or set 'work:' to a folder on the inbox's file system")
        }
        lock = try FolderLock(path, describedAs: "the work folder")
    }

    /// Lets another process have it.
    package func release() { lock.release() }

    /// A job's folder.
    package func folder(of id: JobID) -> FilePath { active.appending(id.text) }

    /// Beside the inbox, or inside it where the inbox is a mount point: a rename does not cross mounts.
    private static func place(for pipeline: Pipeline) throws(IOError) -> FilePath {
        let inbox = pipeline.inbox
        let above = inbox.removingLastComponent()
        let isMountPoint = try device(of: inbox) != device(of: above)
        return (isMountPoint ? inbox : above).appending(".dropmill").appending(pipeline.name)
    }

    private static func checkDevice(_ work: FilePath, of pipeline: Pipeline) throws(IOError) {
        if try device(of: work) != device(of: pipeline.inbox) { throw IOError("use as work folder", work, .improperLink) }
    }

    private static func device(of path: FilePath) throws(IOError) -> UInt64 {
        try UInt64(OpenFile.open(path, O_RDONLY | O_DIRECTORY).status().st_dev)
    }
}
