import CLinux
import Files
import Journal
import SystemPackage

extension WorkPlace {
    /// A place beside an inbox as that is now.
    init(path: FilePath, beside inbox: FilePath) {
        let found = InboxIdentity(of: inbox)
        self.init(
            path: path, inbox: found?.folder.inode ?? 0, fileSystem: found?.fileSystem ?? 0,
            mount: path.withPlatformString { dm_mounting($0) })
    }

    /// Whether what was there is gone, and not merely unmounted: the inbox is unchanged, and it
    /// would be on the same mount.
    func isGone(beside inbox: FilePath) -> Bool {
        guard Folder.kind(of: path.appending("active")) == nil, self.inbox != 0,
            hasInbox(of: WorkPlace(path: path, beside: inbox))
        else { return false }
        var above = path
        while Folder.kind(of: above, followingLinks: true) == nil, above.removeLastComponent() {}
        let mount = inbox.withPlatformString { dm_mount_id($0) }
        return mount >= 0 && mount == above.withPlatformString { dm_mount_id($0) }
    }
}
