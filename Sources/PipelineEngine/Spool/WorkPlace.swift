import PipelineKit
package import SystemPackage

/// Where a pipeline's work folder was in a run, and beside which inbox: a later start finds jobs there whose folders
/// are not where they are looked for now.
package struct WorkPlace: Sendable, Hashable {
    /// The work folder.
    package var path: FilePath
    /// The inode of the inbox: as long as that is the same one, a work folder that is missing beside it is not away
    /// with its file system, but gone. 0 for one that could not be told.
    package var inbox: UInt64

    /// A place.
    package init(path: FilePath, inbox: UInt64) {
        self.path = path
        self.inbox = inbox
    }

    /// The place as it is now.
    init(of work: WorkFolder, _ pipeline: Pipeline) {
        self.init(path: work.path, inbox: FileIdentity.of(pipeline.inbox, followingLinks: true)?.inode ?? 0)
    }
}
