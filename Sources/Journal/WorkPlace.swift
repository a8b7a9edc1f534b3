import PipelineKit
package import SystemPackage

/// Where a pipeline's work folder was in a run, and beside which inbox: a later start finds jobs there whose folders
/// are not where they are expected now.
package struct WorkPlace: Sendable, Hashable {
    /// The work folder.
    package var path: FilePath
    /// The inode of the inbox: as long as that and the file system are the same ones, a work folder that is missing
    /// beside it is not away with its file system, but gone. 0 if unknown.
    package var inbox: UInt64
    /// What its file system is known by; 0 if unknown.
    package var fileSystem: UInt64

    package init(path: FilePath, inbox: UInt64, fileSystem: UInt64 = 0) {
        self.path = path
        self.inbox = inbox
        self.fileSystem = fileSystem
    }

    /// Whether the inbox beside it was the same one, as far as known.
    package func hasInbox(of other: WorkPlace) -> Bool {
        inbox == other.inbox && !isElsewhere(than: other)
    }

    private func isElsewhere(than other: WorkPlace) -> Bool {
        fileSystem != 0 && other.fileSystem != 0 && fileSystem != other.fileSystem
    }

    /// Those of earlier runs that had the path of this one beside another inbox, and may hold what is missing here:
    /// their file system may not be mounted, and this be what it covers. `isEmpty`: whether no job is here.
    package func covered(by places: [WorkPlace], isEmpty: Bool) -> [WorkPlace] {
        // Not noted: an older Dropmill's.
        if places.isEmpty, isEmpty { return [WorkPlace(path: path, inbox: 0)] }
        let others = places.filter { $0.path == path && !$0.hasInbox(of: self) }
        // It may have covered them before, and jobs were begun here since.
        let mayCover = isEmpty || places.contains { $0.path == path && $0.hasInbox(of: self) }
        return mayCover ? others : others.filter { $0.isElsewhere(than: self) }
    }
}
