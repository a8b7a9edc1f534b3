import CLinux
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

    /// Whether what was there is gone, and not away with its file system: the inbox is the one that it was, and it
    /// would be on the same mount.
    func isGone(beside inbox: FilePath) -> Bool {
        guard Folder.kind(of: path.appending("active")) == nil, self.inbox != 0,
            FileIdentity.of(inbox, followingLinks: true)?.inode == self.inbox
        else { return false }
        var above = path
        while Folder.kind(of: above, followingLinks: true) == nil, above.removeLastComponent() {}
        let mount = inbox.withPlatformString { dm_mount_id($0) }
        return mount >= 0 && mount == above.withPlatformString { dm_mount_id($0) }
    }

    /// Those of earlier runs that had the path of this one beside another inbox, and may hold what is missing here:
    /// their file system may not be mounted, and this be what it covers. `isEmpty`: whether no job is here.
    func covered(by places: [WorkPlace], isEmpty: Bool) -> [WorkPlace] {
        // One that nobody noted: an older Dropmill's.
        if places.isEmpty, isEmpty { return [WorkPlace(path: path, inbox: 0)] }
        // It covered them before, and jobs were begun here since.
        guard isEmpty || places.contains(self) else { return [] }
        return places.filter { $0.path == path && $0.inbox != inbox }
    }

    /// The place as it is now.
    init(of work: WorkFolder, _ pipeline: Pipeline) {
        self.init(path: work.path, inbox: FileIdentity.of(pipeline.inbox, followingLinks: true)?.inode ?? 0)
    }
}
