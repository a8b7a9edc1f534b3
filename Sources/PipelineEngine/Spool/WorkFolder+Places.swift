import CLinux
package import Files
import Glibc
package import PipelineKit
package import SystemPackage

/// Where they are.
extension WorkFolder {
    /// Where the pipeline's work folder is or will be: as configured, else beside the inbox, which must exist.
    package static func path(for pipeline: Pipeline) throws(IOError) -> FilePath {
        if let configured = pipeline.work { return configured }
        return try place(for: pipeline)
    }

    /// Beside the inbox, or inside it where the inbox is a mount point (also a bind mount of the same file system): a
    /// rename does not cross mounts.
    private static func place(for pipeline: Pipeline) throws(IOError) -> FilePath {
        let inbox = pipeline.inbox
        let above = inbox.removingLastComponent()
        let isMountPoint = try mount(of: inbox) != mount(of: above)
        return (isMountPoint ? inbox : above).appending(".dropmill").appending(pipeline.name)
    }

    /// The mount that a folder is on, or its device if the kernel has no mount numbers.
    static func mount(of path: FilePath) throws(IOError) -> Int64 {
        let id = path.withPlatformString { dm_mount_id($0) }
        if id >= 0 { return id }
        return Int64(bitPattern: UInt64(try OpenFile.open(path, O_RDONLY | O_DIRECTORY).status().st_dev))
    }

    /// Below a pipeline's work folder, those of the processes that share the journal, by their incarnations.
    static let nodesName = "nodes"

    /// In `looks`: how often daemons died of which drops.
    static let suspectsName = "suspects"

    /// Where that of a process is or will be that shares the journal with others; of one that does not, the pipeline's.
    static func path(for pipeline: Pipeline, of incarnation: String?) throws(IOError) -> FilePath {
        let path = try path(for: pipeline)
        return incarnation.map { path.appending(nodesName).appending($0) } ?? path
    }

    /// That of the pipeline, which has those of all processes where they share the journal.
    package var common: FilePath {
        incarnation == nil ? path : path.removingLastComponent().removingLastComponent()
    }

    /// Makes the folder that theirs are in. What a daemon with a journal of its own has left there is not theirs.
    static func makeNodes(for pipeline: Pipeline) throws(IOError) {
        let path = try path(for: pipeline)
        try Folder.makeOwn(path.removingLastComponent())
        try Folder.make(path, mode: 0o700)
        try checkIsOurs(path, pipeline, isShared: true)
        let active = path.appending("active")
        if Folder.kind(of: active) == .folder, try Folder.names(in: active).contains(where: { JobID($0.text) != nil }) {
            throw IOError("share with other nodes (it holds jobs of a journal that is not shared)", path, .fileExists)
        }
        try Folder.make(path.appending(nodesName), mode: 0o700)
        for folder in [path, path.appending(nodesName)] { try makePrivate(folder) }
    }
}
