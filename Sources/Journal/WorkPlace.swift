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
    /// The number of its mount, which no other has until the machine is started again; 0 if unknown.
    package var mount: UInt64
    /// The last run that had its pipeline at work, where later ones left jobs there and did not load it; nil: the last
    /// one of all.
    package var leftBy: RunRecord?

    package init(path: FilePath, inbox: UInt64, fileSystem: UInt64 = 0, mount: UInt64 = 0) {
        self.path = path
        self.inbox = inbox
        self.fileSystem = fileSystem
        self.mount = mount
    }

    /// Whether it was remounted after a run that had one of these places: what was not synced may be lost.
    package func isRemounted(since places: [WorkPlace]) -> Bool {
        let before = places.first { $0.path == path }?.mount ?? 0
        return mount != 0 && before != 0 && mount != before
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
